/* SPDX-License-Identifier: MIT */
/* names.h - look up names; returns the negative errno, as in os.h */
#ifndef FIB_OS_NAMES_H
#define FIB_OS_NAMES_H

#include <netdb.h>

/* getaddrinfo(3), which blocks: 0, or its error as a negative errno (names.c has the table). */
int fib_os_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **ret);

#endif
