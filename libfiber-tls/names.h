/* SPDX-License-Identifier: MIT */
/* names.h - a server's certificates for other names (SNI) */
#ifndef FIB_TLS_NAMES_H
#define FIB_TLS_NAMES_H

#include "context.h"

/* Add a certificate. Returns as fib_tls_identity(), and -ENOMEM. */
int fib_tls_names_add(struct fiber_tls_context *context, const char *certificate, const char *key,
		      const char **ret_file);

void fib_tls_names_free(struct fib_tls_names *names);

#endif
