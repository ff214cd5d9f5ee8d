/* SPDX-License-Identifier: MIT */
/* refusal.h - why a program cannot run in fibers */
#ifndef FIBERIZE_REFUSAL_H
#define FIBERIZE_REFUSAL_H

#include <limits.h>

/*
 * Returns the reason why libfiber-posix.so cannot be preloaded into a program, or NULL if nothing
 * is known against it. ret_of is the file that the reason is about: the program, or the interpreter
 * of a script.
 */
const char *fiberize_refusal(const char *path, char ret_of[PATH_MAX]);

#endif
