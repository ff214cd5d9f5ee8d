/* SPDX-License-Identifier: MIT */
/*
 * stuck.h - print the answer to "why does it not go on?"
 *
 * What was found comes from inspect/waits/confirm.h. The source is needed for the stacks of the fibers that are shown.
 */
#ifndef INS_STUCK_H
#define INS_STUCK_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "inspect/model/source.h"
#include "inspect/waits/confirm.h"

/* Fibers that are shown, of a cycle and of those that wait for one lock; the others are counted. And stacks in all. */
enum { INS_STUCK_CYCLE = 16, INS_STUCK_LOCK = 2, INS_STUCK_ALL = 64 };

struct ins_stuck {
	struct ins_source *source;
	pid_t pid; /* whose threads can be looked at; 0: none */
	bool json;
	unsigned frames; /* of a stack, innermost first; 0: all */
	FILE *out;
};

/* Print what was found. 0; a negative errno with error set, or without where memory is missing. Whether all of it could be
 * written shows in ferror(out). */
int ins_stuck_print(const struct ins_stuck *stuck, const struct ins_confirmed *confirmed,
		    struct ins_error *error);

#endif
