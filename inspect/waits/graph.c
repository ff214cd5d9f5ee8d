/* SPDX-License-Identifier: MIT */
/*
 * graph.c - build the graph of waits
 *
 * A thread beside fibers is like a fiber here: "fiber" means both.
 *
 * A node is a fiber, or a rwlock that is held for reading: an edge leads from each fiber that waits
 * to write to the lock, and from the lock to each reader. So a lock with many waiters and many
 * readers costs their sum, not their product.
 *
 * The strongly connected components of this graph are the cycles. They are numbered so that a node
 * waits for nodes of the same or of a lower component. In that order each fiber takes the end of its
 * path from the one that it waits for; in the opposite order each one adds its count of waiters.
 *
 * A fiber that waits for several readers can go on when the last of them has released the lock. For
 * its path and for the counts it follows one of them: one of its own cycle, else one that leads into
 * a cycle, else one that waits for an exited fiber or has exited, else the first.
 */
#include "inspect/waits/graph.h"

#include <errno.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/model/words.h"
#include "inspect/waits/components.h"

struct cycle {
	size_t first; /* index in `members` */
	size_t count;
	bool ring; /* each member follows the next one */
};

/* Which readers of a lock a waiter follows: the second one if it is the first one itself. */
struct choice {
	size_t at[2]; /* INS_NOBODY: none */
	unsigned rank[2];
	bool made;
};

struct ins_graph {
	struct ins_table *table;
	struct ins_readers *readers;
	struct ins_node *nodes;
	size_t count;
	struct cycle *cycles; /* by their first fiber */
	size_t cycle_count;
	size_t *members; /* of all cycles */
	uint64_t steps;
	/* while it is built */
	struct ins_edges edges; /* fibers, then locks */
	struct ins_components components;
	struct choice *choices; /* of each lock */
};

void ins_graph_free(struct ins_graph *graph)
{
	if (!graph)
		return;
	ins_readers_free(graph->readers);
	free(graph->nodes);
	free(graph->cycles);
	free(graph->members);
	free(graph->edges.first);
	free(graph->edges.to);
	free(graph->choices);
	ins_components_free(&graph->components);
	free(graph);
}

/* Who has to act before a fiber that waits for a lock of readers goes on. 0: unknown. */
static uint64_t holder_of(const struct ins_graph *graph, const struct ins_fiber *waiter,
			  size_t lock)
{
	const struct fib_row *row = &waiter->row;
	const struct ins_read_lock *l = ins_readers_at(graph->readers, lock);
	struct ins_fiber writer;

	/* follow_one() chooses among the readers that have a row. */
	if (row->wait_kind != FIB_WAIT_RWLOCK_READ)
		return l->other;
	/* The first in the queue is a writer, since readers could enter. */
	if (l->writer == INS_NOBODY)
		return 0;
	ins_table_get(graph->table, l->writer, &writer);
	/* A thread may be the first: most of them have no row, and none has an age. */
	if ((waiter->flags | writer.flags) & INS_FIBER_THREAD || writer.row.age < row->age)
		return 0;
	return writer.row.id;
}

static void take_row(const struct ins_graph *graph, size_t i, struct ins_node *ret)
{
	struct ins_fiber fiber;
	const struct fib_row *row = &fiber.row;

	ins_table_get(graph->table, i, &fiber);
	*ret = (struct ins_node){
		.id = row->id,
		.parent = row->parent,
		.seq = row->seq,
		.pinned_waits = row->pinned_waits,
		.object = row->wait_object,
		.holder = row->holder,
		.deadline = row->deadline,
		.age = row->age,
		.kind = row->wait_kind,
		.dead = row->state == FIBER_DEAD,
		.thread = fiber.flags & INS_FIBER_THREAD,
		.unsure = fiber.flags & INS_FIBER_UNSURE,
		.runs = row->carrier != FIB_ROW_CARRIER_NONE,
		.lock = ins_readers_find(graph->readers, row),
		.to = INS_NOBODY,
		.root = i,
		.cycle = INS_NOBODY,
	};
	if (row->wait_kind == FIB_WAIT_NONE)
		ret->holder = 0;
	if (row->wait_kind == FIB_WAIT_JOIN)
		ret->holder = row->wait_arg != FIB_ROW_UNKNOWN ? row->wait_arg : 0;
	if (ret->lock != INS_NOBODY)
		ret->holder = holder_of(graph, &fiber, ret->lock);
}

/* Whether it waits for all readers of its lock. */
static bool waits_for_all(const struct ins_node *node)
{
	return node->lock != INS_NOBODY && node->kind == FIB_WAIT_RWLOCK_WRITE;
}

static void connect(struct ins_graph *graph, struct ins_node *node)
{
	ssize_t at = -1;

	if (node->holder)
		at = ins_table_find(graph->table, node->holder);
	/* A thread that runs a call for a fiber matters if it waits itself: then it has a row. */
	if (at < 0 && node->kind == FIB_WAIT_OFFLOAD)
		node->holder = 0;
	/* A fiber that joins an exited fiber is about to go on. */
	if (at >= 0 && !(node->kind == FIB_WAIT_JOIN && graph->nodes[at].dead))
		node->to = (size_t)at;
}

/* At most one edge from each fiber, and one from each lock to each of its readers. */
static int make_edges(struct ins_graph *graph)
{
	const size_t locks = ins_readers_count(graph->readers);
	struct ins_edges *e = &graph->edges;
	size_t i, k, n = 0, room = graph->count + 1;

	for (i = 0; i < locks; i++)
		room += ins_readers_at(graph->readers, i)->count;
	e->count = graph->count + locks;
	e->first = calloc(e->count + 1, sizeof *e->first);
	e->to = calloc(room, sizeof *e->to);
	if (!e->first || !e->to)
		return -ENOMEM;
	for (i = 0; i < e->count; i++) {
		e->first[i] = n;
		if (i < graph->count && waits_for_all(&graph->nodes[i])) {
			e->to[n++] = graph->count + graph->nodes[i].lock;
		} else if (i < graph->count) {
			if (graph->nodes[i].to != INS_NOBODY)
				e->to[n++] = graph->nodes[i].to;
		} else {
			const struct ins_read_lock *l =
				ins_readers_at(graph->readers, i - graph->count);

			for (k = 0; k < l->count; k++)
				e->to[n++] = l->fibers[k];
		}
	}
	e->first[e->count] = n;
	return 0;
}

/* Give each cycle a number, in the order of its lowest id, and list its fibers. */
static int number_cycles(struct ins_graph *graph)
{
	const struct ins_components *c = &graph->components;
	size_t *number = calloc(c->count + 1, sizeof *number);
	size_t i, first = 0;

	if (!number)
		return -ENOMEM;
	for (i = 0; i < graph->count; i++) {
		const size_t of = c->of[i];

		if (!c->round[of])
			continue;
		if (!number[of])
			number[of] = ++graph->cycle_count;
		graph->nodes[i].cycle = number[of] - 1;
		graph->cycles[number[of] - 1].count++;
	}
	for (i = 0; i < graph->cycle_count; i++) {
		graph->cycles[i].first = first;
		first += graph->cycles[i].count;
		graph->cycles[i].count = 0;
	}
	for (i = 0; i < graph->count; i++) {
		struct cycle *cycle;

		if (graph->nodes[i].cycle == INS_NOBODY)
			continue;
		cycle = &graph->cycles[graph->nodes[i].cycle];
		graph->members[cycle->first + cycle->count++] = i;
	}
	free(number);
	return 0;
}

/* Node indices in the order of their components, lowest first. */
static size_t *by_component(const struct ins_graph *graph)
{
	const struct ins_components *c = &graph->components;
	size_t *start = calloc(c->count + 2, sizeof *start);
	size_t *order = calloc(graph->edges.count + 1, sizeof *order);
	size_t i;

	if (start && order) {
		for (i = 0; i < graph->edges.count; i++)
			start[c->of[i] + 1]++;
		for (i = 1; i <= c->count; i++)
			start[i] += start[i - 1];
		for (i = 0; i < graph->edges.count; i++)
			order[start[c->of[i]]++] = i;
	} else {
		free(order);
		order = NULL;
	}
	free(start);
	return order;
}

enum { RANK_CYCLE = 2, RANK_OWN_CYCLE };

/* How bad it is to wait for fiber i, which a lock in component `of` is held by. */
static unsigned rank_of(const struct ins_graph *graph, size_t i, size_t of)
{
	const struct ins_node *root = &graph->nodes[graph->nodes[i].root];

	if (graph->components.of[i] == of)
		return RANK_OWN_CYCLE;
	if (root->cycle != INS_NOBODY)
		return RANK_CYCLE;
	return root->dead || ins_node_orphaned(graph, root);
}

/*
 * Choose the two worst of the readers of a lock, once. Those in other components have their roots
 * already.
 */
static void choose(struct ins_graph *graph, size_t lock)
{
	const struct ins_read_lock *l = ins_readers_at(graph->readers, lock);
	struct choice *c = &graph->choices[lock];
	size_t i;

	if (c->made)
		return;
	*c = (struct choice){{INS_NOBODY, INS_NOBODY}, {0, 0}, true};
	for (i = 0; i < l->count; i++) {
		const unsigned rank =
			rank_of(graph, l->fibers[i], graph->components.of[graph->count + lock]);

		graph->steps++;
		if (c->at[0] == INS_NOBODY || rank > c->rank[0]) {
			c->at[1] = c->at[0];
			c->rank[1] = c->rank[0];
			c->at[0] = l->fibers[i];
			c->rank[0] = rank;
		} else if (c->at[1] == INS_NOBODY || rank > c->rank[1]) {
			c->at[1] = l->fibers[i];
			c->rank[1] = rank;
		}
	}
}

/* Choose the reader that a fiber follows which waits for all of them. */
static void follow_one(struct ins_graph *graph, size_t i)
{
	struct ins_node *node = &graph->nodes[i];
	const struct choice *c = &graph->choices[node->lock];
	const uint64_t other = ins_readers_at(graph->readers, node->lock)->other;
	const bool second = c->at[0] == i && c->at[1] != INS_NOBODY && c->rank[1] == c->rank[0];

	/* A reader that has exited never releases it. */
	if (other && !(other & FIB_HOLDER_THREAD) && c->rank[0] < RANK_CYCLE) {
		node->holder = other;
		node->to = INS_NOBODY;
		return;
	}
	node->to = c->at[second];
	if (node->to != INS_NOBODY)
		node->holder = graph->nodes[node->to].id;
}

static int find_roots(struct ins_graph *graph)
{
	size_t *order = by_component(graph), i, k;

	if (!order)
		return -ENOMEM;
	for (k = 0; k < graph->edges.count; k++) {
		struct ins_node *node;

		i = order[k];
		/* In its component a lock may come after a fiber that waits for it. */
		if (i >= graph->count)
			continue;
		node = &graph->nodes[i];
		if (waits_for_all(node)) {
			choose(graph, node->lock);
			follow_one(graph, i);
		}
		if (node->cycle != INS_NOBODY)
			node->root = graph->members[graph->cycles[node->cycle].first];
		else if (node->to != INS_NOBODY)
			node->root = graph->nodes[node->to].root;
	}
	while (k-- > 0) {
		const struct ins_node *node;

		i = order[k];
		if (i >= graph->count)
			continue;
		node = &graph->nodes[i];
		if (node->to != INS_NOBODY &&
		    graph->components.of[node->to] != graph->components.of[i])
			graph->nodes[node->to].behind += 1 + node->behind;
	}
	free(order);
	return 0;
}

/*
 * Sort the members of a cycle so that each follows the next one, if that is possible. It is not if
 * several of them wait for the same readers.
 */
static void arrange(struct ins_graph *graph, struct cycle *cycle)
{
	size_t *members = graph->members + cycle->first, at = members[0], n = 0;

	do {
		at = graph->nodes[at].to;
		n++;
	} while (at != members[0] && n < cycle->count);
	cycle->ring = at == members[0] && n == cycle->count;
	for (n = 0; cycle->ring && n < cycle->count; n++, at = graph->nodes[at].to)
		members[n] = at;
}

/* Find out which cycles would be there without these nodes. */
static int cycles_without(struct ins_graph *graph, const bool *without)
{
	struct ins_components c = {0};
	const int rc = ins_components_find(&graph->edges, without, &c);
	size_t i;

	for (i = 0; rc == 0 && i < graph->count; i++)
		graph->nodes[i].lasts = !without[i] && c.round[c.of[i]];
	graph->steps += c.steps;
	ins_components_free(&c);
	return rc;
}

static bool has_unsure(const struct ins_graph *graph)
{
	size_t i;

	for (i = 0; i < graph->count; i++)
		if (graph->nodes[i].unsure && graph->nodes[i].lasts)
			return true;
	return false;
}

/*
 * Whether every fiber waits in a cycle that lasts, or for one. Then no fiber can release anything,
 * whichever of them holds it.
 */
static bool all_stuck(const struct ins_graph *graph)
{
	size_t i;

	for (i = 0; i < graph->count; i++) {
		const struct ins_node *node = &graph->nodes[i];

		if (node->to != INS_NOBODY && node->deadline != INT64_MAX)
			return false;
		if (!node->thread && !node->dead && !graph->nodes[node->root].lasts)
			return false;
	}
	return true;
}

/*
 * Find out which cycles last: without the fibers that have a deadline, and without those whose holder
 * is not sure, unless all fibers are stuck.
 */
static int find_lasting(struct ins_graph *graph)
{
	bool *without = calloc(graph->edges.count + 1, sizeof *without);
	size_t i;
	int rc = -ENOMEM;

	for (i = 0; without && i < graph->count; i++)
		without[i] = graph->nodes[i].deadline != INT64_MAX;
	if (without)
		rc = cycles_without(graph, without);
	if (rc == 0 && has_unsure(graph) && !all_stuck(graph)) {
		for (i = 0; i < graph->count; i++)
			without[i] |= graph->nodes[i].unsure;
		rc = cycles_without(graph, without);
	}
	free(without);
	return rc;
}

static int make(struct ins_graph *graph)
{
	size_t i;
	int rc;

	for (i = 0; i < graph->count; i++) {
		take_row(graph, i, &graph->nodes[i]);
		graph->steps++;
	}
	for (i = 0; i < graph->count; i++)
		connect(graph, &graph->nodes[i]);
	graph->choices = calloc(ins_readers_count(graph->readers) + 1, sizeof *graph->choices);
	rc = graph->choices ? make_edges(graph) : -ENOMEM;
	if (rc == 0)
		rc = ins_components_find(&graph->edges, NULL, &graph->components);
	if (rc == 0)
		rc = number_cycles(graph);
	if (rc == 0)
		rc = find_roots(graph);
	if (rc == 0 && graph->cycle_count)
		rc = find_lasting(graph);
	for (i = 0; rc == 0 && i < graph->cycle_count; i++)
		arrange(graph, &graph->cycles[i]);
	graph->steps += graph->components.steps;
	return rc;
}

int ins_graph_new(struct ins_table *table, struct ins_graph **ret)
{
	struct ins_graph *graph = calloc(1, sizeof *graph);
	int rc = -ENOMEM;

	*ret = NULL;
	if (!graph)
		return rc;
	graph->table = table;
	graph->count = ins_table_count(table);
	graph->nodes = calloc(graph->count + 1, sizeof *graph->nodes);
	graph->cycles = calloc(graph->count + 1, sizeof *graph->cycles);
	graph->members = calloc(graph->count + 1, sizeof *graph->members);
	if (graph->nodes && graph->cycles && graph->members)
		rc = ins_readers_new(table, &graph->readers);
	if (rc == 0)
		rc = make(graph);
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

size_t ins_graph_fibers(const struct ins_graph *graph)
{
	size_t n = graph->count;

	/* Threads beside fibers have the highest ids. */
	while (n && graph->nodes[n - 1].id & FIB_HOLDER_THREAD)
		n--;
	return n;
}

const struct ins_node *ins_graph_at(const struct ins_graph *graph, size_t i)
{
	return &graph->nodes[i];
}

size_t ins_graph_find(const struct ins_graph *graph, const struct fib_row *row)
{
	const ssize_t at = ins_table_find(graph->table, row->id);
	const struct ins_node *node = at < 0 ? NULL : &graph->nodes[at];

	return node && node->kind == row->wait_kind && node->object == row->wait_object
		       ? (size_t)at
		       : INS_NOBODY;
}

size_t ins_graph_cycles(const struct ins_graph *graph)
{
	return graph->cycle_count;
}

const size_t *ins_graph_members(const struct ins_graph *graph, size_t c, size_t *ret_count)
{
	*ret_count = graph->cycles[c].count;
	return graph->members + graph->cycles[c].first;
}

bool ins_graph_ring(const struct ins_graph *graph, size_t c)
{
	return graph->cycles[c].ring;
}

const struct ins_read_lock *ins_graph_read_lock(const struct ins_graph *graph, size_t i)
{
	const struct ins_node *node = &graph->nodes[i];

	return node->lock != INS_NOBODY ? ins_readers_at(graph->readers, node->lock) : NULL;
}

uint64_t ins_graph_steps(const struct ins_graph *graph)
{
	return graph->steps;
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
