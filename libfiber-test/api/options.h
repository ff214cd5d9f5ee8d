/* SPDX-License-Identifier: MIT */
/* options.h - the options that test programs and fibertest have in common */
#ifndef FIB_TEST_OPTIONS_H
#define FIB_TEST_OPTIONS_H

#include <stdbool.h>

#include "format/format.h"

/* What is no setting. */
struct fib_options {
	const struct fib_format *format; /* NULL: not given */
	const char *file;		 /* NULL: standard output */
	const char *of_replays;		 /* an option that only a replay has; NULL: none */
};

/* Their help, and that of the exit status. */
extern const char fib_options_help[];

/*
 * Take the option at argv[*i]; *i moves on to its value. Returns false if it is none of these. A
 * value that makes no sense prints a line and exits with 2.
 */
bool fib_option_take(int argc, char *argv[], int *i);

/* What was taken so far. */
const struct fib_options *fib_options(void);

/* After the last option: refuse those that contradict each other. */
void fib_options_check(const char *program);

/* Print "PROGRAM: WHAT: WHY" and exit with 2. */
_Noreturn void fib_refuse(const char *program, const char *what, const char *why);

#endif
