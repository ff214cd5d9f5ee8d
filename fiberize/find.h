/* SPDX-License-Identifier: MIT */
/* find.h - the file of a program, by its name */
#ifndef FIBERIZE_FIND_H
#define FIBERIZE_FIND_H

#include <limits.h>

/*
 * Look up a program as execvp(3) does: a name without a slash is looked for in PATH. Returns 0, or
 * -ENOENT, -EACCES or another negative errno.
 */
int fiberize_find(const char *name, char ret_path[PATH_MAX]);

#endif
