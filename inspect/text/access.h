/* SPDX-License-Identifier: MIT */
/* access.h - why a file may not be used: which folder or file forbids it, and to whom. */
#ifndef INS_ACCESS_H
#define INS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The use of it that failed. */
enum ins_access {
	INS_ACCESS_READ,
	INS_ACCESS_CONNECT, /* a control socket, and whatever is said over it */
	INS_ACCESS_MAKE,    /* in its folder */
};

/*
 * path could not be used so: rc, a negative errno. What the system says of that; of -EACCES also what forbids it, whose that is and
 * who may. To be put behind the path. Returns buf.
 */
const char *ins_access_explain(const char *path, enum ins_access use, int rc, char *buf,
			       size_t size);

#define INS_ACCESS_EXPLAIN_SIZE 512 /* bytes that do for it */

#endif
