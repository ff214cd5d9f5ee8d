/* SPDX-License-Identifier: MIT */
/* alpn.h - agree on a protocol (ALPN) */
#ifndef FIB_TLS_ALPN_H
#define FIB_TLS_ALPN_H

#include "context.h"

/* Offer, or as a server select, the protocols in `list`, "h2,http/1.1". Returns 0; -EINVAL: a name
 * is empty or longer than 255 bytes; -ENOMEM. */
int fib_tls_alpn(struct fiber_tls_context *context, const char *list);

#endif
