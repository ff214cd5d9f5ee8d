/* SPDX-License-Identifier: MIT */
/* longrun_data.h - what the service thread keeps in a carrier for longrun.h. */
#ifndef FIB_SCHED_LONGRUN_DATA_H
#define FIB_SCHED_LONGRUN_DATA_H

#include <stdint.h>

/* What a carrier has been seen running. The service thread's. */
struct fib_longrun_hold {
	uint64_t fiber, seq; /* fiber 0: nothing */
	unsigned picks;
	char name[32];
	int64_t first, last; /* looks that have seen it */
	int64_t began;	     /* when it began, as far as that is known */
	int64_t used;	     /* CPU time of the carrier at the first of them that had a threshold */
	uint32_t stage;
	int64_t asked_at;
	uint64_t event; /* its number, once it is recorded */
};

#endif
