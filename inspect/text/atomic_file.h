/* SPDX-License-Identifier: MIT */
/* atomic_file.h - a file that is there whole or not at all. */
#ifndef INS_ATOMIC_FILE_H
#define INS_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "inspect/text/error.h"

struct ins_atomic_file {
	const char *path; /* what it is meant to be */
	bool replace;	  /* what is there already */
	FILE *out;
};

/*
 * Begin a file for path, which is borrowed until the end: mode 0600, under another name. -EEXIST where something is there that
 * is not to be replaced, or is no file. 0, or a negative errno with error set; then there is nothing to end. One at a time.
 */
int ins_atomic_file_begin(struct ins_atomic_file *atomic_file, const char *path, bool replace,
			  struct ins_error *error);

/* rc is 0: give it its name. Else, and where that fails, it goes. rc, or a negative errno with error set. */
int ins_atomic_file_end(struct ins_atomic_file *atomic_file, int rc, struct ins_error *error);

/* "PATH: cannot be written: ...": rc. */
int ins_atomic_file_cannot(const char *path, int rc, struct ins_error *error);

/* The file that is being written, or "": for whoever is ended by a signal and has to remove it. */
extern char ins_atomic_file_path[4096];

#endif
