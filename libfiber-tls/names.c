/* SPDX-License-Identifier: MIT */
/*
 * names.c - a server's certificates for other names (SNI)
 *
 * OpenSSL keeps one certificate of a kind in an SSL_CTX. So each other certificate is loaded into an
 * SSL_CTX of its own. A connection gets the certificate, key and chain out of it, and keeps the
 * context's SSL_CTX: OpenSSL reads the ALPN callback, the ciphers of TLS 1.2 and the trusted
 * authorities from there, so SSL_set_SSL_CTX() would replace these settings too.
 */
#include "names.h"

#include <errno.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "identity.h"

/* A list, in the order in which they were added. */
struct fib_tls_names {
	struct fib_tls_names *next;
	SSL_CTX *openssl;
};

/* Give the connection the certificate, key and chain. They are shared, not copied. */
static bool use(SSL *ssl, SSL_CTX *openssl)
{
	STACK_OF(X509) *chain = NULL;

	SSL_CTX_get0_chain_certs(openssl, &chain);
	SSL_certs_clear(ssl);
	return SSL_use_cert_and_key(ssl, SSL_CTX_get0_certificate(openssl),
				    SSL_CTX_get0_privatekey(openssl), chain, 1) == 1;
}

static int select_certificate(SSL *ssl, int *alert, void *arg)
{
	const struct fiber_tls_context *context = arg;
	const char *host = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	if (!host ||
	    X509_check_host(SSL_CTX_get0_certificate(context->openssl), host, 0, 0, NULL) == 1)
		return SSL_TLSEXT_ERR_OK;
	for (const struct fib_tls_names *n = context->names; n; n = n->next) {
		if (X509_check_host(SSL_CTX_get0_certificate(n->openssl), host, 0, 0, NULL) != 1)
			continue;
		if (use(ssl, n->openssl))
			break;
		*alert = SSL_AD_INTERNAL_ERROR;
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	}
	return SSL_TLSEXT_ERR_OK;
}

int fib_tls_names_add(struct fiber_tls_context *context, const char *certificate, const char *key,
		      const char **ret_file)
{
	struct fib_tls_names *const added = calloc(1, sizeof(*added));
	struct fib_tls_names **last = &context->names;
	int error;

	*ret_file = certificate;
	if (!added)
		return -ENOMEM;
	added->openssl = SSL_CTX_new(TLS_server_method());
	error = added->openssl ? fib_tls_identity(added->openssl, certificate, key, ret_file)
			       : -ENOMEM;
	if (error) {
		fib_tls_names_free(added);
		return error;
	}
	while (*last)
		last = &(*last)->next;
	*last = added;
	SSL_CTX_set_tlsext_servername_callback(context->openssl, select_certificate);
	SSL_CTX_set_tlsext_servername_arg(context->openssl, context);
	return 0;
}

void fib_tls_names_free(struct fib_tls_names *names)
{
	while (names) {
		struct fib_tls_names *const next = names->next;

		SSL_CTX_free(names->openssl);
		free(names);
		names = next;
	}
}
