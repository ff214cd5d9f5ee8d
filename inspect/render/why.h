/* SPDX-License-Identifier: MIT */
/*
 * why.h - in one sentence, why a fiber does not run
 *
 * It has waited 3s for the mutex "cfg", which fiber 88 "writer" holds; fiber 88 itself has waited 2m14s for fd 17 read.
 */
#ifndef INS_WHY_H
#define INS_WHY_H

#include "inspect/text/sample.h"
#include "inspect/query/table.h"

#define INS_WHY_SIZE  8192 /* no sentence is longer */
#define INS_WHY_LINKS 12   /* fibers of a chain that are told one by one */

/*
 * The sentence for a fiber, which need not be in the table; the others that it speaks of are looked for there. The
 * chain of who waits for whom is followed to its end or until it closes. size is at least 1, INS_WHY_SIZE for sure. Harmless
 * for a terminal. Returns buf.
 */
const char *ins_why(struct ins_table *table, const struct fib_layout *layout,
		    const struct ins_fiber *fiber, char *buf, size_t size);

/* Those who wait for one fiber: they join it, or want what it holds. */
struct ins_waiters {
	uint64_t joining, wanting;
	struct ins_sample ids; /* the lowest ones */
};
void ins_waiters_find(struct ins_table *table, uint64_t id, struct ins_waiters *ret);

#endif
