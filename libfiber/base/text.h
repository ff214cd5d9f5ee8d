/* SPDX-License-Identifier: MIT */
/*
 * text.h - build a line without stdio, for reports from signal handlers
 *
 * No allocation, no locale, no lock. Text that does not fit is cut.
 */
#ifndef FIB_BASE_TEXT_H
#define FIB_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Initialise used to 0. Bytes [0, used) of buf are the text, which is not terminated. */
struct fib_text {
	char *buf;
	size_t size, used;
};

void fib_text_put(struct fib_text *t, const char *string);
void fib_text_number(struct fib_text *t, uint64_t number);
void fib_text_hex(struct fib_text *t, uint64_t number); /* 0x... */

/* Append text up to a NUL, at most size bytes. A byte that is not printable ASCII becomes \xNN: it
 * must not move a cursor. */
void fib_text_plain(struct fib_text *t, const char *text, size_t size);

/* As fib_text_plain(), in quotes; a quote and a backslash get a backslash. */
void fib_text_quoted(struct fib_text *t, const char *name, size_t size);

/* Append a duration in ns in the tools' format: 17us, 2.1s, 3m20s, 5d2h. */
void fib_text_duration(struct fib_text *t, int64_t ns);

#endif
