/* SPDX-License-Identifier: MIT */
/*
 * graph.h - the room waits/: the graph of waits
 *
 * Takes: fibers with what they wait for and who holds it.
 * Gives: the graph of waits, and verdicts: deadlock, queue, stuck.
 * Used by: render/, tool/.
 *
 * A fiber waits for one thing at a time, and a thing has at most one known holder. So each fiber
 * has at most one outgoing edge. Each path ends at a fiber that does not wait for another one, at a
 * holder that is no fiber or has exited, or in a cycle. The graph is built in time linear in the
 * number of fibers.
 *
 * It is built from rows, so it is the same for live memory and for cores.
 */
#ifndef INS_GRAPH_H
#define INS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/query/table.h"

#define INS_NOBODY SIZE_MAX /* no fiber, in place of an index */

struct ins_node {
	uint64_t id, parent, seq;
	uint64_t object; /* address of what it waits for; 0: none */
	uint64_t holder; /* a fiber's id, or FIB_HOLDER_THREAD | tid; 0: unknown */
	int64_t deadline, age;
	uint8_t kind; /* enum fib_wait_kind */
	bool dead;    /* the fiber has exited */
	bool runs;    /* it is pinned: it keeps its carrier while it waits */
	size_t to;    /* index of the holder */
	size_t root;  /* end of the path from here; if that is a cycle, the cycle's first fiber */
	size_t cycle; /* number of its cycle */
	/*
	 * Fibers that wait for this one, directly or indirectly. In a cycle all fibers wait for
	 * each other: there, fibers outside of the cycle that reach it at this fiber.
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
const struct ins_node *ins_graph_at(const struct ins_graph *graph, size_t i);

/*
 * The number of cycles, and the first fiber of cycle c: the one with the lowest id. Follow `to` for
 * the others.
 */
size_t ins_graph_cycles(const struct ins_graph *graph);
size_t ins_graph_cycle(const struct ins_graph *graph, size_t c);

/* Whether it waits for another fiber or thread: not for time, a descriptor or the kernel. */
bool ins_node_waits(const struct ins_node *node);

/* Whether its holder is a fiber that has exited, also one that has no record any more. */
bool ins_node_orphaned(const struct ins_graph *graph, const struct ins_node *node);

#endif
