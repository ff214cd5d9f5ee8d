/* SPDX-License-Identifier: MIT */
/* place.h - the function, file and line of an address of this process */
#ifndef FIB_TEST_PLACE_H
#define FIB_TEST_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct fib_place {
	const char *function; /* NULL: unknown */
	const char *path;     /* of the source file; NULL: unknown */
	const char *file;     /* its last part; NULL: unknown */
	int line;
};

/* The place before a return address. The texts stay. */
void fib_place_of(const void *at, struct fib_place *ret);

/* "transfer at transfer.c:12", or the address. Returns buf. */
const char *fib_place_text(const void *at, char *buf, size_t size);

/* The global variable at an address and the offset in it; NULL: it is in none. The text stays. */
const char *fib_place_variable(const void *at, size_t *ret_offset);

/* Whether one of these functions runs: libdw opens files then. */
bool fib_place_is_sought(void);

#endif
