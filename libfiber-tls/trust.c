/* SPDX-License-Identifier: MIT */
/*
 * trust.c - the authorities that a context trusts
 *
 * OpenSSL can look authorities up in a folder during a handshake. That would read files where a
 * fiber must not block. So all authorities are read from one file when the context is made. Each
 * family of systems has that file in another place; the environment variable SSL_CERT_FILE, which
 * OpenSSL and others know, comes first, but not in a set-user-ID program.
 */
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const places[] = {
	"/etc/ssl/certs/ca-certificates.crt",		     /* Debian, Arch, Gentoo */
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL */
	"/etc/pki/tls/certs/ca-bundle.crt",		     /* older ones of these */
	"/etc/ssl/ca-bundle.pem",			     /* openSUSE */
	"/etc/ssl/cert.pem",				     /* Alpine */
};

int fib_tls_readable(const char *file)
{
	const int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* The system's file. NULL: there is none. */
static const char *find_place(void)
{
	const char *const named = secure_getenv(X509_get_default_cert_file_env());

	if (named)
		return named;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!access(places[i], R_OK))
			return places[i];
	return NULL;
}

int fib_tls_trust(SSL_CTX *openssl, const char *ca, const char **ret_file)
{
	const char *const file = ca ? ca : find_place();
	int error;

	*ret_file = file ? file : "the system's certificates of authorities";
	if (!file)
		return -ENOENT;
	error = fib_tls_readable(file);
	if (error)
		return error;
	return SSL_CTX_load_verify_file(openssl, file) ? 0 : -EINVAL;
}
