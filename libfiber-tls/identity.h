/* SPDX-License-Identifier: MIT */
/* identity.h - the certificate and the key that one side shows */
#ifndef FIB_TLS_IDENTITY_H
#define FIB_TLS_IDENTITY_H

#include <openssl/ssl.h>

/*
 * Load a certificate with its chain, and its key, from PEM files; key NULL: it is in the same file.
 * *ret_file: the file that an error is about. Returns 0; the error of open(2); -EINVAL: not a
 * certificate, not a key, or not of one pair, the queue of OpenSSL has the reason.
 */
int fib_tls_identity(SSL_CTX *openssl, const char *certificate, const char *key,
		     const char **ret_file);

#endif
