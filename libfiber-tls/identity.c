/* SPDX-License-Identifier: MIT */
/* identity.c - the certificate and the key that one side shows */
#include "identity.h"

#include <errno.h>
#include <openssl/pem.h>

#include "trust.h"

/* A key with a passphrase is an error. OpenSSL's own function would ask at the terminal. */
static int no_passphrase(char *buf, int size, int writes, void *data)
{
	(void)buf;
	(void)size;
	(void)writes;
	(void)data;
	return -1;
}

int fib_tls_identity(SSL_CTX *openssl, const char *certificate, const char *key,
		     const char **ret_file)
{
	int error;

	*ret_file = certificate;
	error = fib_tls_readable(certificate);
	if (error)
		return error;
	SSL_CTX_set_default_passwd_cb(openssl, no_passphrase);
	if (!SSL_CTX_use_certificate_chain_file(openssl, certificate))
		return -EINVAL;
	*ret_file = key ? key : certificate;
	error = fib_tls_readable(*ret_file);
	if (error)
		return error;
	if (!SSL_CTX_use_PrivateKey_file(openssl, *ret_file, SSL_FILETYPE_PEM) ||
	    !SSL_CTX_check_private_key(openssl))
		return -EINVAL;
	return 0;
}
