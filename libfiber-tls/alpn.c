/* SPDX-License-Identifier: MIT */
/*
 * alpn.c - agree on a protocol (ALPN)
 *
 * The server selects: the first protocol of its own list that the client offers. If the client
 * offers some and none is in the list, the handshake fails (RFC 7301): a connection on which the
 * sides speak different protocols would fail later and less clearly. A client that offers none is
 * served; the program then sees "" as the protocol.
 */
#include "alpn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Write the names as on the wire, each after its length. Returns false for a bad name. */
static bool write_names(unsigned char *to, const char *list)
{
	for (;;) {
		const size_t size = strcspn(list, ",");

		if (!size || size > 255)
			return false;
		*to++ = (unsigned char)size;
		memcpy(to, list, size);
		to += size;
		list += size;
		if (!*list++)
			return true;
	}
}

static int select_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_size,
			   const unsigned char *offered, unsigned size, void *arg)
{
	const struct fiber_tls_context *context = arg;
	unsigned char *selected;

	(void)ssl;
	if (SSL_select_next_proto(&selected, ret_size, context->alpn, (unsigned)context->alpn_size,
				  offered, size) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*ret = selected;
	return SSL_TLSEXT_ERR_OK;
}

int fib_tls_alpn(struct fiber_tls_context *context, const char *list)
{
	const size_t size = strlen(list) + 1;

	context->alpn = malloc(size);
	if (!context->alpn)
		return -ENOMEM;
	if (!write_names(context->alpn, list))
		return -EINVAL;
	context->alpn_size = size;
	if (context->server)
		SSL_CTX_set_alpn_select_cb(context->openssl, select_protocol, context);
	else if (SSL_CTX_set_alpn_protos(context->openssl, context->alpn, (unsigned)size))
		return -ENOMEM;
	return 0;
}
