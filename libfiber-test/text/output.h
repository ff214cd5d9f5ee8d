/* SPDX-License-Identifier: MIT */
/* output.h - write a file completely or not at all */
#ifndef FIB_TEST_OUTPUT_H
#define FIB_TEST_OUTPUT_H

#include <stdio.h>

struct fib_output {
	FILE *out;
	const char *path; /* NULL: standard output */
	char *temporary;  /* the file until it is complete; only its owner may read it */
};

/*
 * Start the file at path, NULL: standard output. Returns 0 or a negative errno; -EEXIST: something
 * that is no regular file is there.
 */
int fib_output_begin(struct fib_output *output, const char *path);

/* Let others read it too, as the umask says. */
void fib_output_share(struct fib_output *output);

/* Complete the file. Returns 0 or a negative errno, after which it is not there. */
int fib_output_end(struct fib_output *output);

#endif
