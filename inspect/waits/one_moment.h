/* SPDX-License-Identifier: MIT */
/*
 * one_moment.h - whether a single reading proves a deadlock
 *
 * The rows of a snapshot of a running program are not of one moment, and there is no second reading.
 * There a finding is certain if all its waits are longer than the reading took, or if its threads
 * slept the whole time (INS_FIBER_SLEPT). A core is of one moment.
 *
 * A lock that is handed over looks for longer as if its next holder waited for itself (deadlock.h).
 * So in a core such a finding also needs that no fiber runs. A thread has no such moment: its word
 * changes first (threads/library_wait.c), and a mutex of the C library is not handed over.
 *
 * A finding with a holder that is not sure lasts only because all fibers are stuck (graph.c). Then
 * the waits of all of them must be as long.
 */
#ifndef INS_ONE_MOMENT_H
#define INS_ONE_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/waits/deadlock.h"

/* A hand-over does not take as long, in ns. */
#define INS_SELF_LONG INT64_C(1000000000)

/*
 * The shortest and the longest wait in a finding, without threads that slept the whole time. single:
 * there is only this reading. INT64_MAX and 0: there are no other ones.
 */
void ins_one_moment_ages(const struct ins_graph *graph, const struct ins_deadlock *d, bool single,
			 int64_t *ret_shortest, int64_t *ret_longest);

/*
 * Whether no fiber and no thread of the graph runs or can run. Then no lock is being handed over, and
 * no wake-up is under way.
 */
bool ins_graph_at_rest(const struct ins_graph *graph);

/* Whether the finding is no artefact of its reading, which is the only one. */
bool ins_one_moment(const struct ins_graph *graph, const struct ins_deadlock *d);

#endif
