/* SPDX-License-Identifier: MIT */
/* atomic_file.h - write a file completely or not at all */
#ifndef INS_ATOMIC_FILE_H
#define INS_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "inspect/text/error.h"

struct ins_atomic_file {
	const char *path; /* the final name */
	bool replace;	  /* an existing file may be replaced */
	FILE *out;
};

/*
 * Start a file for path, which is borrowed until the end: mode 0600, under a temporary name.
 * -EEXIST if path exists and may not be replaced, or is no regular file. Returns 0, or a negative
 * errno with error set; then ins_atomic_file_end() is not called. Only one draft at a time.
 */
int ins_atomic_file_begin(struct ins_atomic_file *atomic_file, const char *path, bool replace,
			  struct ins_error *error);

/*
 * If rc is 0, rename the draft to its final name. Otherwise, or if that fails, remove it. Returns
 * rc, or a negative errno with error set.
 */
int ins_atomic_file_end(struct ins_atomic_file *atomic_file, int rc, struct ins_error *error);

/* Set error to "PATH: cannot be written: ...". Returns rc. */
int ins_atomic_file_cannot(const char *path, int rc, struct ins_error *error);

/* The temporary file in use, or "": a signal handler that ends the tool removes it. */
extern char ins_atomic_file_path[4096];

#endif
