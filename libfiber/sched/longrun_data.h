/* SPDX-License-Identifier: MIT */
/* longrun_data.h - what the service thread keeps per carrier for longrun.h */
#ifndef FIB_SCHED_LONGRUN_DATA_H
#define FIB_SCHED_LONGRUN_DATA_H

#include <stdbool.h>
#include <stdint.h>

/* What a carrier was last seen running. The service thread's. */
struct fib_longrun_hold {
	uint64_t fiber, seq; /* fiber 0: none */
	unsigned picks;
	char name[32];
	int64_t first, last; /* times of the first and the last tick that saw it */
	int64_t began;	     /* when it started to run, as far as known */
	int64_t used; /* carrier's CPU time at the first tick that saw it with a threshold set */
	uint32_t stage;
	int64_t asked_at;
	uint64_t event;	 /* number of the event, once recorded */
	uint64_t entry;	 /* the fiber's function */
	unsigned behind; /* looks in succession, past the threshold, that saw other fibers wait */
	bool told;	 /* the event was given to longrun_report.h */
};

#endif
