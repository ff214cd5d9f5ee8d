/* SPDX-License-Identifier: MIT */
/*
 * stillness.h - whether anything is left that can wake a fiber
 *
 * All fibers wait without a deadline, and none for a descriptor, a helper thread, the kernel or a
 * predicate. Then only a thread can wake one: signal handlers may not. Carriers run fibers only. The
 * program counts those of its other threads that do nothing until a fiber acts. If these are all,
 * no fiber ever runs again, whatever they wait for. Otherwise another thread may come and wake one.
 */
#ifndef INS_STILLNESS_H
#define INS_STILLNESS_H

#include "inspect/model/source.h"
#include "inspect/waits/graph.h"

/*
 * Whether the fiber is suspended, without a deadline, and only another fiber or a thread of the
 * program ends its wait.
 */
bool ins_stillness_needs_waker(const struct fib_row *row);

struct ins_stillness {
	bool all_wait; /* there are fibers, and all wait as above */
	/*
	 * Threads that could wake one; -1: unknown, because the program does not count its threads
	 * or they cannot be seen. With 0 nothing is left.
	 */
	int64_t threads;
};

/* Look at the fibers of the graph, and at the threads of their process. pid 0: there is none. */
void ins_stillness_look(const struct ins_graph *graph, const struct ins_source *source, pid_t pid,
			struct ins_stillness *ret);

/* The clock that ages are measured with is coarse: an age may be too large by this, in ns. */
#define INS_AGE_MOMENT INT64_C(50000000)

/*
 * Whether all fibers have waited during the whole reading, so that all rows are true of one moment.
 * For a source that is read once. A core is of one moment.
 */
bool ins_stillness_old(const struct ins_graph *graph);

#endif
