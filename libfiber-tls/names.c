/* SPDX-License-Identifier: MIT */
/*
 * names.c - a server's certificates for other names (SNI)
 *
 * OpenSSL keeps one certificate of a kind in an SSL_CTX. So each other certificate has an SSL_CTX of
 * its own, which gives its certificate to the connection and nothing else: the settings of the
 * connection were copied from the first one before the client's message was read.
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

static int select_certificate(SSL *ssl, int *alert, void *arg)
{
	const struct fiber_tls_context *context = arg;
	const char *host = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	(void)alert;
	if (!host ||
	    X509_check_host(SSL_CTX_get0_certificate(context->openssl), host, 0, 0, NULL) == 1)
		return SSL_TLSEXT_ERR_OK;
	for (const struct fib_tls_names *n = context->names; n; n = n->next) {
		if (X509_check_host(SSL_CTX_get0_certificate(n->openssl), host, 0, 0, NULL) == 1) {
			SSL_set_SSL_CTX(ssl, n->openssl);
			break;
		}
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
