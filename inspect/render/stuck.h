/* SPDX-License-Identifier: MIT */
/*
 * stuck.h - the answer to "why does it not go on?" for any source
 *
 * Reads the fibers as often as it takes to be sure, looks for deadlocks, reads the stacks of those that it shows, and prints.
 */
#ifndef INS_STUCK_H
#define INS_STUCK_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "inspect/model/source.h"

/* Fibers that are shown, of a cycle and of those that wait for one lock; the others are counted. And stacks in all. */
enum { INS_STUCK_CYCLE = 16, INS_STUCK_LOCK = 2, INS_STUCK_ALL = 64 };

struct ins_stuck {
	struct ins_source *source;
	pid_t pid;  /* whose threads can be looked at; 0: none */
	bool still; /* nothing moves in it, as in a core: one reading tells all */
	bool json;
	unsigned frames; /* of a stack, innermost first; 0: all */
	FILE *out;
};

/* Print the answer. *ret_found: deadlocks that last. 0; a negative errno with error set. Whether all of it could be written
 * shows in ferror(out). */
int ins_stuck_answer(const struct ins_stuck *stuck, size_t *ret_found, struct ins_error *error);

#endif
