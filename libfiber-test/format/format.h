/* SPDX-License-Identifier: MIT */
/*
 * format.h - write the outcomes of tests in a format
 *
 * A document is begun, has an outcome for each test that ran, in their order, and ends. A format may
 * write at any of these. To add one, add a file and its line in format.c.
 */
#ifndef FIB_TEST_FORMAT_H
#define FIB_TEST_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "explore/outcome.h"

struct fib_document {
	FILE *out;
	const char *program;
	size_t tests; /* that are to run */
	size_t written, findings, errors;
	int64_t duration; /* ns of all so far */
	uint64_t seed;	  /* of the first test */
	int signal;	  /* that ended the program; 0: none */
	/* JUnit: the elements, which follow their numbers. */
	FILE *elements;
	char *text;
	size_t size;
};

struct fib_format {
	const char *name;
	void (*begin)(struct fib_document *d);
	void (*outcome)(struct fib_document *d, const struct fib_outcome *outcome);
	void (*end)(struct fib_document *d);
};

extern const struct fib_format fib_format_text, fib_format_tap, fib_format_junit, fib_format_json;

/* NULL: there is none of that name. */
const struct fib_format *fib_format_find(const char *name);

/* Count the outcome in *d, and write it. */
void fib_format_outcome(const struct fib_format *format, struct fib_document *d,
			const struct fib_outcome *outcome);

#endif
