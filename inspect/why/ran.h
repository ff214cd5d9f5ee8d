/* SPDX-License-Identifier: MIT */
/* ran.h - what the carriers of a runtime ran between the readings, by the fibers' function */
#ifndef INS_WHY_RAN_H
#define INS_WHY_RAN_H

#include "inspect/why/look.h"

struct ins_ran_function {
	uint64_t entry;	 /* the function; 0: unknown */
	uint64_t fibers; /* that have run */
	uint64_t ns;	 /* of CPU time; single: 0 */
	uint64_t id;	 /* of one of them */
};

#define INS_RAN_MOST 256 /* functions: the fibers of later ones are left out */

/* Initialise with zero. */
struct ins_ran_functions {
	struct ins_ran_function at[INS_RAN_MOST];
	size_t count;
	uint64_t ns, fibers; /* of all */
};

/*
 * The functions by CPU time, the longest first. After a single reading: those of the fibers that ran
 * then, the most fibers first. runtime: runtimes.h.
 */
void ins_ran_find(const struct ins_look *look, uint64_t runtime, struct ins_ran_functions *ret);

#endif
