/* SPDX-License-Identifier: MIT */
/* context.h - the settings of many connections, as the files of libfiber-tls see them */
#ifndef FIB_TLS_CONTEXT_H
#define FIB_TLS_CONTEXT_H

#include <fiber/tls.h>
#include <openssl/ssl.h>

#include "sessions.h"

struct fib_tls_names;

/* I set before the first connection, then read-only · A any thread, atomic */
struct fiber_tls_context {
	SSL_CTX *openssl;	       /* I */
	bool server;		       /* I */
	unsigned flags;		       /* I */
	uint32_t references;	       /* A */
	unsigned char *alpn;	       /* I: as on the wire: each name after its length */
	size_t alpn_size;	       /* I */
	struct fib_tls_names *names;   /* I: a server's other certificates, NULL: none */
	struct fib_tls_sessions saved; /* a client's */
};

#endif
