/* SPDX-License-Identifier: MIT */
/*
 * deadlock.h - fibers that will never go on, and those of which nobody can say so
 *
 * What is found is of one of these kinds, and lasts or does not. Only what lasts is a deadlock:
 *
 *   cycle    Fibers wait for each other. It lasts unless one of these waits has a deadline.
 *   self      A fiber waits for what it holds itself; the same.
 *   orphan    A lock whose holder, a fiber or a thread, has ended: nobody else may release it. It lasts, also when those
 *             who wait have deadlines: the lock is lost.
 *   ancestor  A fiber joins the one that spawned it, at length. It lasts when that one waits for a group or waitgroup without
 *             a deadline, and none of its descendants can go on: who else should wake it? Otherwise the ancestor may
 *             well end some day, and this is only suspicious.
 *   thread    A lock is held by a plain thread, which has no record: it may be about to release it, or wait for ever.
 *             It never counts as lasting.
 *
 * Rows are not of one moment, and a cycle that is seen in one reading need never have been. In two readings, one after the
 * other, with the same switch counts, objects and holders it was: no fiber of it ran between, so whatever
 * it waited for in the first it held and waited for all the time. So what one reading shows is not reported.
 *
 * Two of these are less sure. A lock that is handed over belongs to its next holder a moment before that is said to wait no
 * more, and looks like one that waits for itself. And the switch count of a fiber that waits pinned does not move, so
 * that a cycle of nothing but these may have been another one in between. They are called fleeting, and
 * want a third reading, and some time between.
 */
#ifndef INS_DEADLOCK_H
#define INS_DEADLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/waits/graph.h"

enum ins_deadlock_kind {
	INS_DEADLOCK_CYCLE,
	INS_DEADLOCK_SELF,
	INS_DEADLOCK_ORPHAN,
	INS_DEADLOCK_ANCESTOR,
	INS_DEADLOCK_THREAD,
};

struct ins_deadlock {
	enum ins_deadlock_kind kind;
	bool lasting;
	uint64_t holder, object; /* of an orphan and a thread: the lock and who has it */
	/* Indices in the table. A cycle begins with the lowest id, and each waits for the next; of an ancestor: who joins,
	 * and the ancestor; of a lock: who waits for it. */
	const size_t *fibers;
	size_t count;
	uint64_t behind;  /* more fibers that wait for these, at length */
	int64_t deadline; /* the earliest of a cycle, self or ancestor; INT64_MAX: none */
};

struct ins_deadlocks;

/*
 * What there is in a graph, as far as it was in `before`, what was found in an earlier reading; NULL: all of it. pid: of the
 * process whose threads can be looked at, 0: none. The graph is borrowed; before is needed only for the call. Lasting ones
 * first, then by how many fibers they stop. -ENOMEM.
 */
int ins_deadlocks_find(const struct ins_graph *graph, const struct ins_deadlocks *before, pid_t pid,
		       struct ins_deadlocks **ret);
void ins_deadlocks_free(struct ins_deadlocks *found); /* NULL: nothing */

size_t ins_deadlocks_count(const struct ins_deadlocks *found);
size_t ins_deadlocks_lasting(const struct ins_deadlocks *found); /* the first so many */
const struct ins_deadlock *ins_deadlocks_at(const struct ins_deadlocks *found, size_t i);
const struct ins_graph *ins_deadlocks_graph(const struct ins_deadlocks *found);

/* Whether there is a fleeting one. */
bool ins_deadlocks_fleeting(const struct ins_deadlocks *found);

#endif
