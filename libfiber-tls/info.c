/* SPDX-License-Identifier: MIT */
/* info.c - what the handshake agreed on */
#include <errno.h>
#include <string.h>

#include "connection.h"

/* The protocol, which OpenSSL keeps without an end, as a string of the connection's. It is written
 * once: others may read it already. */
static const char *alpn_of(struct fiber_tls *tls)
{
	const unsigned char *name;
	unsigned size;

	if (tls->alpn[0])
		return tls->alpn;
	SSL_get0_alpn_selected(tls->ssl, &name, &size);
	if (!name || size >= sizeof(tls->alpn))
		return "";
	memcpy(tls->alpn, name, size);
	tls->alpn[size] = '\0';
	return tls->alpn;
}

int fiber_tls_info(struct fiber_tls *tls, struct fiber_tls_info *ret)
{
	const char *host;
	bool ready;

	pthread_mutex_lock(&tls->lock);
	ready = tls->ready;
	if (ready) {
		host = SSL_get_servername(tls->ssl, TLSEXT_NAMETYPE_host_name);
		ret->version = SSL_get_version(tls->ssl);
		ret->cipher = SSL_get_cipher_name(tls->ssl);
		ret->alpn = alpn_of(tls);
		ret->host = host ? host : "";
		ret->kernel = tls->kernel;
		ret->resumed = SSL_session_reused(tls->ssl);
	}
	pthread_mutex_unlock(&tls->lock);
	return ready ? 0 : -ENOTCONN;
}
