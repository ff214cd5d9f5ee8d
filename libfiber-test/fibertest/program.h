/* SPDX-License-Identifier: MIT */
/* program.h - the program that fibertest is to explore */
#ifndef FIB_TEST_PROGRAM_H
#define FIB_TEST_PROGRAM_H

#include <limits.h>

/* Look up a program as execvp() does. Returns NULL, or why it cannot be run. */
const char *fib_program_find(const char *name, char ret_path[PATH_MAX]);

/* Why libfiber-test.so cannot be preloaded into it, and what to do; NULL: nothing is known against it. */
const char *fib_program_refusal(const char *path);

#endif
