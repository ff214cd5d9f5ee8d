/* SPDX-License-Identifier: MIT */
/* trust.h - the authorities that a context trusts */
#ifndef FIB_TLS_TRUST_H
#define FIB_TLS_TRUST_H

#include <openssl/ssl.h>

/*
 * Trust the authorities in the PEM file `ca`; NULL: the system's. Reads a file. *ret_file: the file
 * that an error is about. Returns 0; the error of open(2); -EINVAL: no certificates in it, the
 * queue of OpenSSL has the reason; -ENOENT: no file of the system was found.
 */
int fib_tls_trust(SSL_CTX *openssl, const char *ca, const char **ret_file);

/* Returns 0 if the file can be opened, or the error of open(2). */
int fib_tls_readable(const char *file);

#endif
