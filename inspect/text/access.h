/* SPDX-License-Identifier: MIT */
/* access.h - explain why a file may not be used: which folder or file forbids it, and to whom */
#ifndef INS_ACCESS_H
#define INS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The operation that failed. */
enum ins_access {
	INS_ACCESS_READ,
	INS_ACCESS_CONNECT, /* a control socket, and all requests over it */
	INS_ACCESS_MAKE,    /* create it in its folder */
};

/*
 * Explain why path could not be used: rc, a negative errno. Gives the system's message. For -EACCES
 * also what forbids the access, its owner, and who has access. The text goes behind the path in a
 * message. Returns buf.
 */
const char *ins_access_explain(const char *path, enum ins_access use, int rc, char *buf,
			       size_t size);

#define INS_ACCESS_EXPLAIN_SIZE 512 /* enough bytes for it */

#endif
