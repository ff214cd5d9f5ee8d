/* SPDX-License-Identifier: MIT */
/*
 * stuck.h - print why a program does not go on
 *
 * The findings come from inspect/waits/confirm.h. The source is needed for the stacks of the shown
 * fibers.
 */
#ifndef INS_STUCK_H
#define INS_STUCK_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "inspect/model/source.h"
#include "inspect/waits/confirm.h"

/*
 * How many fibers of a cycle, of a lock's waiters and of "still" are shown; others are counted. The
 * limit of stacks in all.
 */
enum { INS_STUCK_CYCLE = 16, INS_STUCK_LOCK = 2, INS_STUCK_STILL = 20, INS_STUCK_ALL = 64 };

struct ins_stuck {
	struct ins_source *source;
	pid_t pid; /* the process whose threads can be inspected; 0: none */
	bool json;
	unsigned frames; /* of a stack, innermost first; 0: all */
	bool hide;	 /* internal frames of the stacks */
	FILE *out;
};

/*
 * Print the findings. Returns 0 or a negative errno; error is set except if memory is missing.
 * Check ferror(out) for write errors.
 */
int ins_stuck_print(const struct ins_stuck *stuck, const struct ins_confirmed *confirmed,
		    struct ins_error *error);

#endif
