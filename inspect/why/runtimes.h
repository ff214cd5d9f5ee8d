/* SPDX-License-Identifier: MIT */
/*
 * runtimes.h - what a rule finds out about each runtime of a program
 *
 * A fiber waits for the carriers of its own runtime only. Whether two fibers are of one runtime is not
 * known if either row has no runtime: then they may be.
 */
#ifndef INS_WHY_RUNTIMES_H
#define INS_WHY_RUNTIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INS_RUNTIMES_MOST 64 /* a program has a few; those of a damaged one count as unknown */

struct ins_runtime {
	uint64_t id;	   /* fib_row.runtime; 0: unknown */
	uint64_t runnable; /* fibers that can run */
	uint64_t delayed;  /* of those: for long */
	bool kept;	   /* a fiber keeps a carrier */
};

/* Initialise with zero. */
struct ins_runtimes {
	struct ins_runtime at[INS_RUNTIMES_MOST + 1];
	size_t count;
};

struct ins_look;

/* Whether two fibers may be of one runtime, by fib_row.runtime of each. */
bool ins_runtimes_may_be_one(uint64_t a, uint64_t b);

/* Look at all fibers of the last reading. */
void ins_runtimes_find(const struct ins_look *look, struct ins_runtimes *ret);

/* How many fibers that can run may wait for a carrier of this runtime, and have waited for long. */
uint64_t ins_runtimes_delayed(const struct ins_runtimes *runtimes, uint64_t id);

/* Whether a carrier of this runtime may be kept. */
bool ins_runtimes_kept(const struct ins_runtimes *runtimes, uint64_t id);

#endif
