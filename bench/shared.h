/* SPDX-License-Identifier: MIT */
/* shared.h - the loads of the works that share something between threads; C and C++ */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#include "bench/work.h"

/* The work of a member of a group: about 100 ns. */
static inline void work_little(uint32_t x)
{
	x |= 1;
	for (int i = 0; i < 50; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}
	__asm__ volatile("" : : "r"(x)); /* the compiler keeps the loop */
}

#define WORK_SHORT_NAPS 10 /* of each sleeper */
#define WORK_UNTIL_ALL_WAIT \
	INT64_C(100000000) /* ns from the start of sleepers to their first nap */

/* The start state of sleeper i. */
static inline uint32_t work_nap_state(long i)
{
	return (uint32_t)i * 2654435761u + 1u;
}

/* A sleep of 1-20 ms in ns. Equal start states give equal sequences. */
static inline int64_t work_short_nap(uint32_t *state)
{
	return INT64_C(1000000) + (work_nap(state) - INT64_C(1000000)) * 19 / 99;
}

#endif
