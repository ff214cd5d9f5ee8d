/* SPDX-License-Identifier: MIT */
/*
 * graph.h - who waits for whom
 *
 * A fiber waits for one thing at a time, and a thing has one holder that is known. So from each fiber at most one
 * way leads on, and every way ends: at a fiber that waits for no other, at a holder that is no fiber
 * or has ended, or in a cycle. That is found for all of them in time linear in their number.
 *
 * It is made of rows and knows of no source: live memory and cores have the same graph.
 */
#ifndef INS_GRAPH_H
#define INS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/query/table.h"

#define INS_NOBODY SIZE_MAX /* where the index of a fiber stands: none */

struct ins_node {
	uint64_t id, parent, seq;
	uint64_t object; /* address of what it waits for, 0: it has none */
	uint64_t holder; /* whom it waits for: a fiber's id, FIB_HOLDER_THREAD | tid, 0: unknown */
	int64_t deadline, age;
	uint8_t kind; /* enum fib_wait_kind */
	bool dead;    /* it has ended */
	bool runs;    /* it does not leave its carrier while it waits: it is pinned */
	size_t to;    /* the holder in the table */
	size_t root;  /* where the way from here ends; of one into a cycle, its first fiber */
	size_t cycle; /* of which cycle it is */
	/* fibers that wait for it, at length. In a cycle everybody waits for everybody: there it is those that come
	 * into the cycle at this fiber, without the cycle itself. */
	uint64_t behind;
};

struct ins_graph;

/* The graph of the fibers in the table, which is borrowed; nodes have their indices. -ENOMEM. */
int ins_graph_new(struct ins_table *table, struct ins_graph **ret);
void ins_graph_free(struct ins_graph *graph); /* NULL: nothing */

struct ins_table *ins_graph_table(const struct ins_graph *graph);
size_t ins_graph_count(const struct ins_graph *graph);
const struct ins_node *ins_graph_at(const struct ins_graph *graph, size_t i);

/* How many cycles there are, and the first fiber of cycle c: the one with the lowest id. `to` leads around. */
size_t ins_graph_cycles(const struct ins_graph *graph);
size_t ins_graph_cycle(const struct ins_graph *graph, size_t c);

/* Whether it waits for what other fibers or threads give: not for time, a descriptor or the system. */
bool ins_node_waits(const struct ins_node *node);

/* Whether its holder is a fiber that has ended, also one of which nothing is left. */
bool ins_node_orphaned(const struct ins_graph *graph, const struct ins_node *node);

#endif
