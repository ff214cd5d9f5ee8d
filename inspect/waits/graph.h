/* SPDX-License-Identifier: MIT */
/*
 * graph.h - the room waits/: the graph of waits
 *
 * Takes: fibers with what they wait for and who holds it.
 * Gives: the graph of waits, and verdicts: deadlock, queue, stuck.
 * Used by: render/, tool/.
 *
 * A fiber waits for one thing at a time. A thing has at most one known holder, unless it is a rwlock
 * with several readers: a fiber that waits to write waits for all of them. One of them is `to`, so
 * from each fiber one path can be followed. It ends at a fiber that does not wait for another one,
 * at a holder that is no fiber or has exited, or in a cycle. Cycles are found through all readers. A
 * fiber that waits to read while others read waits for the fiber that waits longest to write.
 *
 * The graph is built in time linear in the number of fibers and of the read locks that they hold.
 *
 * It is built from rows, so it is the same for live memory and for cores.
 */
#ifndef INS_GRAPH_H
#define INS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/query/table.h"
#include "inspect/waits/readers.h"

#define INS_NOBODY SIZE_MAX /* no fiber, in place of an index */

struct ins_node {
	uint64_t id, parent, seq;
	uint32_t pinned_waits; /* with seq: new at every wait */
	uint64_t object;       /* address of what it waits for; 0: none */
	uint64_t holder;       /* a fiber's id, or FIB_HOLDER_THREAD | tid; 0: unknown */
	int64_t deadline, age;
	uint8_t kind; /* enum fib_wait_kind */
	bool dead;    /* the fiber has exited */
	bool thread;  /* it is a plain thread: its age is unknown */
	bool runs;    /* it is pinned: it keeps its carrier while it waits */
	bool lasts;  /* it is in a cycle in which no wait has a deadline and all holders are sure */
	bool unsure; /* the holder may be another one (INS_FIBER_UNSURE) */
	size_t lock; /* the read lock that it waits for: ins_graph_read_lock(); INS_NOBODY: none */
	size_t to;   /* index of the holder; of several, of the one that the path follows */
	size_t root; /* end of the path from here; if that is a cycle, the cycle's first fiber */
	size_t cycle; /* number of its cycle */
	/*
	 * Fibers that wait for this one, directly or indirectly; a fiber that waits for several is
	 * counted at its `to`. In a cycle all fibers wait for each other: there, fibers outside of
	 * the cycle that reach it at this fiber.
	 */
	uint64_t behind;
};

struct ins_graph;

/*
 * Build the graph of the fibers in table, which is borrowed. Indices are those of the table.
 * -ENOMEM.
 */
int ins_graph_new(struct ins_table *table, struct ins_graph **ret);
void ins_graph_free(struct ins_graph *graph); /* NULL: nothing */

struct ins_table *ins_graph_table(const struct ins_graph *graph);
size_t ins_graph_count(const struct ins_graph *graph);
size_t ins_graph_fibers(const struct ins_graph *graph); /* without the threads beside them */
const struct ins_node *ins_graph_at(const struct ins_graph *graph, size_t i);

/* The index of a row's fiber, if it still waits for the same; else INS_NOBODY. */
size_t ins_graph_find(const struct ins_graph *graph, const struct fib_row *row);

/*
 * The number of cycles, and the fibers of cycle c. The first one has the lowest id. In a ring each
 * one waits for the next. In other cycles several wait for the same readers; then their fibers are
 * sorted by id.
 */
size_t ins_graph_cycles(const struct ins_graph *graph);
const size_t *ins_graph_members(const struct ins_graph *graph, size_t c, size_t *ret_count);
bool ins_graph_ring(const struct ins_graph *graph, size_t c);

/* The rwlock that fiber i waits for, if it is held for reading; else NULL. */
const struct ins_read_lock *ins_graph_read_lock(const struct ins_graph *graph, size_t i);

/* Nodes and edges that were looked at while it was built. */
uint64_t ins_graph_steps(const struct ins_graph *graph);

/* Whether it waits for another fiber or thread: not for time, a descriptor or the kernel. */
bool ins_node_waits(const struct ins_node *node);

/* Whether its holder is a fiber that has exited, also one that has no record any more. */
bool ins_node_orphaned(const struct ins_graph *graph, const struct ins_node *node);

#endif
