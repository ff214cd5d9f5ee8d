/* SPDX-License-Identifier: MIT */
/*
 * graph.c - build the graph of waits
 *
 * Fibers without waiters are removed one after another; each adds its count of waiters to the fiber
 * that it waits for. The fibers that remain are cycles. In the opposite order each fiber then takes
 * the end of its path from the next one.
 */
#include "inspect/waits/graph.h"

#include <errno.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/model/words.h"

struct ins_graph {
	struct ins_table *table;
	struct ins_node *nodes;
	size_t count;
	size_t *cycles; /* the first fiber of each */
	size_t cycle_count;
};

void ins_graph_free(struct ins_graph *graph)
{
	if (!graph)
		return;
	free(graph->nodes);
	free(graph->cycles);
	free(graph);
}

static void take_row(struct ins_table *table, size_t i, struct ins_node *ret)
{
	struct ins_fiber fiber;
	const struct fib_row *row = &fiber.row;

	ins_table_get(table, i, &fiber);
	*ret = (struct ins_node){
		.id = row->id,
		.parent = row->parent,
		.seq = row->seq,
		.object = row->wait_object,
		.holder = row->holder,
		.deadline = row->deadline,
		.age = row->age,
		.kind = row->wait_kind,
		.dead = row->state == FIBER_DEAD,
		.runs = row->carrier != FIB_ROW_CARRIER_NONE,
		.to = INS_NOBODY,
		.root = i,
		.cycle = INS_NOBODY,
	};
	if (row->wait_kind == FIB_WAIT_NONE)
		ret->holder = 0;
	if (row->wait_kind == FIB_WAIT_JOIN)
		ret->holder = row->wait_arg != FIB_ROW_UNKNOWN ? row->wait_arg : 0;
}

static void connect(struct ins_graph *graph, size_t *waiters)
{
	size_t i;

	for (i = 0; i < graph->count; i++) {
		struct ins_node *node = &graph->nodes[i];
		ssize_t at = -1;

		if (node->holder && !(node->holder & FIB_HOLDER_THREAD))
			at = ins_table_find(graph->table, node->holder);
		/* A fiber that joins an exited fiber is about to go on. */
		if (at < 0 || (node->kind == FIB_WAIT_JOIN && graph->nodes[at].dead))
			continue;
		node->to = (size_t)at;
		waiters[at]++;
	}
}

/* Remove fibers without waiters until only cycles are left. order: the removed fibers, in order. */
static size_t peel(struct ins_graph *graph, size_t *waiters, size_t *order)
{
	size_t i, at, done = 0, n = 0;

	for (i = 0; i < graph->count; i++)
		if (!waiters[i])
			order[n++] = i;
	while (done < n) {
		const struct ins_node *node = &graph->nodes[order[done++]];

		at = node->to;
		if (at == INS_NOBODY)
			continue;
		graph->nodes[at].behind += 1 + node->behind;
		if (!--waiters[at])
			order[n++] = at;
	}
	return n;
}

/* The lowest id comes first, so each cycle is found at its first fiber. */
static void number_cycles(struct ins_graph *graph, const size_t *waiters)
{
	size_t i, at;

	for (i = 0; i < graph->count; i++) {
		if (!waiters[i] || graph->nodes[i].cycle != INS_NOBODY)
			continue;
		graph->cycles[graph->cycle_count] = i;
		at = i;
		do {
			graph->nodes[at].cycle = graph->cycle_count;
			graph->nodes[at].root = i;
			at = graph->nodes[at].to;
		} while (at != i);
		graph->cycle_count++;
	}
}

static void find_roots(struct ins_graph *graph, const size_t *order, size_t n)
{
	while (n > 0) {
		struct ins_node *node = &graph->nodes[order[--n]];

		if (node->to != INS_NOBODY)
			node->root = graph->nodes[node->to].root;
	}
}

static int make(struct ins_graph *graph)
{
	size_t *waiters = calloc(graph->count + 1, sizeof *waiters);
	size_t *order = calloc(graph->count + 1, sizeof *order);
	int rc = -ENOMEM;
	size_t n;

	if (waiters && order) {
		connect(graph, waiters);
		n = peel(graph, waiters, order);
		number_cycles(graph, waiters);
		find_roots(graph, order, n);
		rc = 0;
	}
	free(waiters);
	free(order);
	return rc;
}

int ins_graph_new(struct ins_table *table, struct ins_graph **ret)
{
	struct ins_graph *graph = calloc(1, sizeof *graph);
	size_t i;
	int rc = -ENOMEM;

	*ret = NULL;
	if (!graph)
		return rc;
	graph->table = table;
	graph->count = ins_table_count(table);
	graph->nodes = calloc(graph->count + 1, sizeof *graph->nodes);
	graph->cycles = calloc(graph->count + 1, sizeof *graph->cycles);
	if (graph->nodes && graph->cycles) {
		for (i = 0; i < graph->count; i++)
			take_row(table, i, &graph->nodes[i]);
		rc = make(graph);
	}
	if (rc < 0)
		ins_graph_free(graph);
	else
		*ret = graph;
	return rc;
}

struct ins_table *ins_graph_table(const struct ins_graph *graph)
{
	return graph->table;
}

size_t ins_graph_count(const struct ins_graph *graph)
{
	return graph->count;
}

const struct ins_node *ins_graph_at(const struct ins_graph *graph, size_t i)
{
	return &graph->nodes[i];
}

size_t ins_graph_cycles(const struct ins_graph *graph)
{
	return graph->cycle_count;
}

size_t ins_graph_cycle(const struct ins_graph *graph, size_t c)
{
	return graph->cycles[c];
}

bool ins_node_waits(const struct ins_node *node)
{
	switch (node->kind) {
	case FIB_WAIT_NONE:
	case FIB_WAIT_YIELD:
	case FIB_WAIT_SLEEP:
	case FIB_WAIT_PARK:
	case FIB_WAIT_FD:
	case FIB_WAIT_TIMER:
	case FIB_WAIT_OFFLOAD:
	case FIB_WAIT_OP:
	case FIB_WAIT_PINNED:
	case INS_WAIT_CALL:
		return node->holder != 0;
	default:
		return node->holder || node->object;
	}
}

bool ins_node_orphaned(const struct ins_graph *graph, const struct ins_node *node)
{
	/* Joining an exited fiber returns at once, so such a join is no lost wait. */
	if (!node->holder || node->holder & FIB_HOLDER_THREAD || node->kind == FIB_WAIT_JOIN)
		return false;
	return node->to == INS_NOBODY || graph->nodes[node->to].dead;
}
