/* SPDX-License-Identifier: MIT */
/*
 * text.h - a line put together without stdio, for reports from signal handlers
 *
 * No allocation, no locale, no lock. What does not fit is cut.
 */
#ifndef FIB_BASE_TEXT_H
#define FIB_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Zero used to begin; bytes [0, used) of buf are the text, which is not terminated. */
struct fib_text {
	char *buf;
	size_t size, used;
};

void fib_text_put(struct fib_text *t, const char *string);
void fib_text_number(struct fib_text *t, uint64_t number);
void fib_text_hex(struct fib_text *t, uint64_t number); /* 0x... */

/* Whatever is not printable ASCII becomes \xNN: it must not move a cursor. At most size bytes are looked at. */
void fib_text_plain(struct fib_text *t, const char *text, size_t size);

/* The same in quotes; a quote and a backslash get a backslash. */
void fib_text_quoted(struct fib_text *t, const char *name, size_t size);

/* ns as the tools write it: 17us, 2.1s, 3m20s, 5d2h. */
void fib_text_duration(struct fib_text *t, int64_t ns);

#endif
