/* SPDX-License-Identifier: MIT */
/*
 * deadlock.h - find fibers that will never run again
 *
 * A finding has one of six kinds. A finding that lasts is a deadlock, another one is only
 * suspicious.
 *
 *   cycle     Fibers wait for each other. Lasts if some of them would do so without those whose wait
 *             has a deadline.
 *   self      A fiber waits for what it holds itself. Lasts unless the wait has a deadline.
 *   orphan    The holder of a lock, a fiber or a thread, has exited. Nothing else may release the
 *             lock. Lasts even if the waiters have deadlines: the lock is lost.
 *   ancestor  A fiber joins an ancestor. Lasts if that ancestor waits without deadline for a group
 *             or waitgroup and none of its descendants can go on, because then nothing can wake it.
 *             Otherwise the ancestor may still exit.
 *   still     All fibers wait, and nothing is left that could wake one (stillness.h). Lasts.
 *   thread    A plain thread holds the lock. It has no record: it may be about to release the lock,
 *             or may wait for ever. Never lasts.
 *
 * The rows of one reading are not of one moment: a cycle in one reading may never have existed. A
 * finding is reported if a second reading has the same switch counts, objects and holders. Then no
 * fiber of the cycle ran in between, so each one held its lock and waited the whole time. A fiber
 * that waits pinned is not switched. Its record counts these waits (pinned_waits), and older programs
 * do not.
 *
 * Three findings need more proof; they are called fleeting. A lock that is handed over belongs to its
 * next holder shortly before that fiber's record stops waiting, which looks like "self". A cycle of
 * only fibers that wait pinned may have been a different cycle in between, in an older program. A
 * thread may be about to wait, or to return from a wait, so "still" is fleeting too. A fleeting
 * finding needs a third reading and a pause before it. A pinned fiber that waits for itself must also
 * be asleep after each reading (confirm.c).
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
	INS_DEADLOCK_STILL,
};

struct ins_deadlock {
	enum ins_deadlock_kind kind;
	bool lasting;
	bool doubted; /* it would be lasting, but its waits may be of different moments */
	bool ring;    /* cycle: each fiber waits for the next; else for several of the others */
	uint64_t holder, object; /* orphan, thread: the lock and its holder */
	/*
	 * Indices in the table. cycle: starts with the lowest id; a ring in its order, else by id.
	 * ancestor: the joining fiber, then the ancestor. Locks: the waiters. still: all that wait.
	 */
	const size_t *fibers;
	size_t count;
	uint64_t behind;  /* other fibers that wait for these, directly or indirectly */
	int64_t deadline; /* of cycle, self, ancestor: the earliest; INT64_MAX: none */
};

struct ins_deadlocks;

/*
 * Find deadlocks in graph. before: the findings of an earlier reading; only those that are in both
 * are returned; NULL: return all. pid: the process whose threads can be inspected; 0: none. The
 * graph is borrowed; before is used during the call only. Lasting findings come first, then those
 * that block the most fibers. -ENOMEM.
 */
int ins_deadlocks_find(const struct ins_graph *graph, const struct ins_deadlocks *before, pid_t pid,
		       struct ins_deadlocks **ret);
void ins_deadlocks_free(struct ins_deadlocks *found); /* NULL: nothing */

/*
 * Add the finding "still", unless each fiber that waits is in another lasting finding or waits for
 * a fiber in one. The caller has found that nothing can wake a fiber. before: as above.
 */
void ins_deadlocks_add_still(struct ins_deadlocks *found, const struct ins_deadlocks *before);

/*
 * Doubt the findings that a single reading does not prove (one_moment.h): they do not last. For a
 * source that cannot be read again.
 */
void ins_deadlocks_doubt(struct ins_deadlocks *found);

/* Forget finding i. */
void ins_deadlocks_drop(struct ins_deadlocks *found, size_t i);

/* Whether some fiber waits for neither a lasting finding nor a fiber in one. */
bool ins_deadlocks_unexplained(const struct ins_deadlocks *found);

size_t ins_deadlocks_count(const struct ins_deadlocks *found);
size_t ins_deadlocks_lasting(const struct ins_deadlocks *found); /* the lasting ones come first */
const struct ins_deadlock *ins_deadlocks_at(const struct ins_deadlocks *found, size_t i);
const struct ins_graph *ins_deadlocks_graph(const struct ins_deadlocks *found);

/* How many of the waiters in a finding are threads, beside fibers or alone. */
size_t ins_deadlocks_threads(const struct ins_deadlocks *found, const struct ins_deadlock *d);

/* Whether a fleeting finding is among them. */
bool ins_deadlocks_fleeting(const struct ins_deadlocks *found);

#endif
