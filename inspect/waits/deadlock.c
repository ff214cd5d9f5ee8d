/* SPDX-License-Identifier: MIT */
/* deadlock.c - find fibers that will never run again */
#include "inspect/waits/deadlock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/waits/ancestry.h"
#include "inspect/waits/one_moment.h"
#include "inspect/process/thread.h"

#define LASTING 0x80u /* it is in a finding that lasts */

struct ins_deadlocks {
	const struct ins_graph *graph;
	const struct ins_deadlocks *before; /* during the call */
	struct ins_deadlock *at;
	size_t count, lasting;
	size_t *fibers;
	size_t used;	/* of fibers */
	uint8_t *kinds; /* for each fiber in the table: bits 1 << kind, and LASTING */
};

void ins_deadlocks_free(struct ins_deadlocks *found)
{
	if (!found)
		return;
	free(found->at);
	free(found->fibers);
	free(found->kinds);
	free(found);
}

static const struct ins_node *node_at(const struct ins_deadlocks *found, size_t i)
{
	return ins_graph_at(found->graph, i);
}

/* -- what the earlier reading says -- */

/*
 * The node of fiber i in the earlier reading, if it was part of the same kind of finding, has not
 * run since and waits for the same object and holder.
 */
static const struct ins_node *unmoved(const struct ins_deadlocks *found, size_t i,
				      enum ins_deadlock_kind kind)
{
	const struct ins_graph *before = found->before->graph;
	const struct ins_node *now = node_at(found, i), *then;
	ssize_t at = ins_table_find(ins_graph_table(before), now->id);

	if (at < 0 || !(found->before->kinds[at] & 1u << kind))
		return NULL;
	then = ins_graph_at(before, (size_t)at);
	return then->seq == now->seq && then->pinned_waits == now->pinned_waits &&
			       then->kind == now->kind && then->object == now->object &&
			       then->holder == now->holder
		       ? then
		       : NULL;
}

static bool confirmed(const struct ins_deadlocks *found, const struct ins_deadlock *d)
{
	bool lock = d->kind == INS_DEADLOCK_ORPHAN || d->kind == INS_DEADLOCK_THREAD;
	size_t i;

	if (!found->before)
		return true;
	for (i = 0; i < d->count; i++) {
		bool stayed = unmoved(found, d->fibers[i], d->kind) != NULL;

		/* New waiters of a lock do not matter: one unchanged waiter is enough. */
		if (lock && stayed)
			return true;
		if (!lock && !stayed)
			return false;
	}
	return !lock;
}

/* -- finding -- */

static struct ins_deadlock *begin(struct ins_deadlocks *found, enum ins_deadlock_kind kind)
{
	struct ins_deadlock *d = &found->at[found->count];

	*d = (struct ins_deadlock){
		.kind = kind,
		.fibers = found->fibers + found->used,
		.deadline = INT64_MAX,
	};
	return d;
}

static void add(struct ins_deadlocks *found, struct ins_deadlock *d, size_t i)
{
	found->fibers[found->used + d->count++] = i;
}

static void finish(struct ins_deadlocks *found, const struct ins_deadlock *d)
{
	size_t i;

	if (!confirmed(found, d))
		return;
	for (i = 0; i < d->count; i++)
		found->kinds[d->fibers[i]] |= (uint8_t)(1u << d->kind | (d->lasting ? LASTING : 0));
	found->used += d->count;
	found->lasting += d->lasting;
	found->count++;
}

static void apply_deadline(struct ins_deadlock *d, const struct ins_node *node)
{
	if (node->deadline < d->deadline)
		d->deadline = node->deadline;
}

static void find_cycles(struct ins_deadlocks *found)
{
	const size_t *members;
	size_t c, i, n;

	for (c = 0; c < ins_graph_cycles(found->graph); c++) {
		struct ins_deadlock *d = begin(found, INS_DEADLOCK_CYCLE);

		members = ins_graph_members(found->graph, c, &n);
		for (i = 0; i < n; i++) {
			const struct ins_node *node = node_at(found, members[i]);

			add(found, d, members[i]);
			apply_deadline(d, node);
			d->behind += node->behind;
			d->lasting |= node->lasts;
		}
		if (d->count == 1)
			d->kind = INS_DEADLOCK_SELF;
		d->ring = ins_graph_ring(found->graph, c);
		if (d->lasting)
			d->deadline = INT64_MAX;
		finish(found, d);
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_lock(const void *a, const void *b, void *graph)
{
	const struct ins_node *x = ins_graph_at(graph, *(const size_t *)a);
	const struct ins_node *y = ins_graph_at(graph, *(const size_t *)b);
	int order = compare(x->holder, y->holder);

	if (!order)
		order = compare(x->object, y->object);
	return order ? order : compare(x->id, y->id);
}

static void find_lock(struct ins_deadlocks *found, const size_t *waiters, size_t n, bool ended)
{
	struct ins_deadlock *d = begin(found, ended ? INS_DEADLOCK_ORPHAN : INS_DEADLOCK_THREAD);
	size_t i;

	d->holder = node_at(found, waiters[0])->holder;
	d->object = node_at(found, waiters[0])->object;
	d->lasting = ended;
	for (i = 0; i < n; i++) {
		add(found, d, waiters[i]);
		d->behind += node_at(found, waiters[i])->behind;
	}
	finish(found, d);
}

/* waiters: fibers whose holder is a thread or has exited. */
static void find_locks(struct ins_deadlocks *found, size_t *waiters, size_t n, pid_t pid)
{
	enum ins_thread thread = INS_THREAD_UNKNOWN;
	char name[INS_THREAD_NAME];
	uint64_t asked = 0;
	size_t i = 0, k;
	bool ended;

	if (n)
		qsort_r(waiters, n, sizeof *waiters, by_lock, (void *)found->graph);
	for (; i < n; i = k) {
		const struct ins_node *node = node_at(found, waiters[i]);

		for (k = i + 1; k < n; k++)
			if (node_at(found, waiters[k])->holder != node->holder ||
			    node_at(found, waiters[k])->object != node->object)
				break;
		if (node->holder & FIB_HOLDER_THREAD && node->holder != asked) {
			asked = node->holder;
			thread = ins_thread_look(pid, asked & ~FIB_HOLDER_THREAD, name);
		}
		ended = !(node->holder & FIB_HOLDER_THREAD) || thread == INS_THREAD_ENDED;
		/* Fibers come first. That threads wait for a thread is nothing special. */
		if (ended || !node->thread)
			find_lock(found, waiters + i, k - i, ended);
	}
}

/* Whether it waits without a deadline for several other fibers. */
static bool waits_for_many(const struct ins_node *node)
{
	return (node->kind == FIB_WAIT_GROUP || node->kind == FIB_WAIT_WAITGROUP) &&
	       node->deadline == INT64_MAX;
}

/* Whether the fiber can go on without one that waits for several others. */
static bool can_go_on(const struct ins_graph *graph, const struct ins_node *node)
{
	const struct ins_node *root = ins_graph_at(graph, node->root);

	if (node->dead)
		return false;
	if (node->deadline != INT64_MAX)
		return true;
	return root->cycle == INS_NOBODY && !root->dead && !ins_node_orphaned(graph, root) &&
	       !waits_for_many(root);
}

static bool joins_ancestor(const struct ins_deadlocks *found, const struct ins_ancestry *ancestry,
			   size_t i)
{
	const struct ins_node *node = node_at(found, i);

	return node->kind == FIB_WAIT_JOIN && node->to != INS_NOBODY &&
	       node_at(found, node->root)->cycle == INS_NOBODY &&
	       ins_ancestry_descends(ancestry, i, node->to);
}

static int find_ancestors(struct ins_deadlocks *found)
{
	size_t i, count = ins_graph_count(found->graph);
	struct ins_ancestry *ancestry;
	int rc = ins_ancestry_new(found->graph, &ancestry);

	if (rc < 0)
		return rc;
	for (i = 0; i < count; i++)
		if (can_go_on(found->graph, node_at(found, i)))
			ins_ancestry_mark(ancestry, i);
	for (i = 0; i < count; i++) {
		const struct ins_node *node = node_at(found, i), *ancestor;
		struct ins_deadlock *d;

		if (!joins_ancestor(found, ancestry, i))
			continue;
		ancestor = node_at(found, node->to);
		d = begin(found, INS_DEADLOCK_ANCESTOR);
		add(found, d, i);
		add(found, d, node->to);
		d->behind = ancestor->behind - 1;
		apply_deadline(d, node);
		apply_deadline(d, ancestor);
		d->lasting = d->deadline == INT64_MAX && waits_for_many(ancestor) &&
			     !ins_ancestry_marked(ancestry, node->to);
		finish(found, d);
	}
	ins_ancestry_free(ancestry);
	return 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct ins_deadlock *x = a, *y = b;

	if (x->lasting != y->lasting)
		return x->lasting ? -1 : 1;
	/* The others are causes of it. */
	if ((x->kind == INS_DEADLOCK_STILL) != (y->kind == INS_DEADLOCK_STILL))
		return x->kind == INS_DEADLOCK_STILL ? 1 : -1;
	if (x->count + x->behind != y->count + y->behind)
		return x->count + x->behind > y->count + y->behind ? -1 : 1;
	/* Indices are in the order of ids. */
	return compare(*x->fibers, *y->fibers);
}

/*
 * Whether a thread holds what it waits for, and the graph does not say enough of that thread: it
 * has no row, or it is not in a cycle and does not wait for one.
 */
static bool held_by_thread(const struct ins_deadlocks *found, const struct ins_node *node)
{
	if (!(node->holder & FIB_HOLDER_THREAD) || node->kind == FIB_WAIT_PINNED ||
	    node->kind == FIB_WAIT_JOIN || node->kind == FIB_WAIT_OFFLOAD)
		return false;
	if (node->to == INS_NOBODY)
		return true;
	return !node->thread && node_at(found, node->root)->cycle == INS_NOBODY;
}

static int find_all(struct ins_deadlocks *found, pid_t pid)
{
	size_t i, n = 0, joins = 0, count = ins_graph_count(found->graph);
	size_t *waiters = calloc(count + 1, sizeof *waiters);
	int rc = 0;

	if (!waiters)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const struct ins_node *node = node_at(found, i);

		joins += node->kind == FIB_WAIT_JOIN && node->to != INS_NOBODY;
		if (held_by_thread(found, node) || ins_node_orphaned(found->graph, node))
			waiters[n++] = i;
	}
	find_cycles(found);
	find_locks(found, waiters, n, pid);
	free(waiters);
	if (joins)
		rc = find_ancestors(found);
	if (found->count)
		qsort(found->at, found->count, sizeof *found->at, by_weight);
	return rc;
}

int ins_deadlocks_find(const struct ins_graph *graph, const struct ins_deadlocks *before, pid_t pid,
		       struct ins_deadlocks **ret)
{
	struct ins_deadlocks *found = calloc(1, sizeof *found);
	size_t count = ins_graph_count(graph);
	int rc = -ENOMEM;

	*ret = NULL;
	if (!found)
		return rc;
	found->graph = graph;
	found->before = before;
	/* A fiber is in at most one finding as a waiter, in one more as an ancestor, and in "still". */
	found->at = calloc(count + 2, sizeof *found->at);
	found->fibers = calloc(3 * count + 3, sizeof *found->fibers);
	found->kinds = calloc(count + 1, sizeof *found->kinds);
	if (found->at && found->fibers && found->kinds)
		rc = find_all(found, pid);
	found->before = NULL;
	if (rc < 0)
		ins_deadlocks_free(found);
	else
		*ret = found;
	return rc;
}

/* -- all fibers -- */

/* Whether a fiber is in a lasting finding, or waits for one that is. */
static bool explained(const struct ins_deadlocks *found, size_t i)
{
	const struct ins_node *node = node_at(found, i);

	return node->kind == FIB_WAIT_NONE ||
	       (found->kinds[i] | found->kinds[node->root]) & LASTING;
}

bool ins_deadlocks_unexplained(const struct ins_deadlocks *found)
{
	size_t i, count = ins_graph_count(found->graph);

	for (i = 0; i < count; i++)
		if (!explained(found, i))
			return true;
	return false;
}

void ins_deadlocks_add_still(struct ins_deadlocks *found, const struct ins_deadlocks *before)
{
	size_t i, count = ins_graph_count(found->graph);
	struct ins_deadlock *d;

	if (!ins_deadlocks_unexplained(found))
		return;
	d = begin(found, INS_DEADLOCK_STILL);
	d->lasting = true;
	for (i = 0; i < count; i++)
		if (node_at(found, i)->kind != FIB_WAIT_NONE && !node_at(found, i)->thread)
			add(found, d, i);
	found->before = before;
	finish(found, d);
	found->before = NULL;
	qsort(found->at, found->count, sizeof *found->at, by_weight);
}

void ins_deadlocks_doubt(struct ins_deadlocks *found)
{
	size_t i, k;

	for (i = 0; i < found->count; i++) {
		struct ins_deadlock *d = &found->at[i];

		if (!d->lasting || ins_one_moment(found->graph, d))
			continue;
		d->lasting = false;
		d->doubted = true;
		found->lasting--;
		for (k = 0; k < d->count; k++)
			found->kinds[d->fibers[k]] &= (uint8_t)~LASTING;
	}
	if (found->count)
		qsort(found->at, found->count, sizeof *found->at, by_weight);
}

void ins_deadlocks_drop(struct ins_deadlocks *found, size_t i)
{
	const struct ins_deadlock *d = &found->at[i];
	size_t k;

	/* A fiber is in one finding of a kind, and in one lasting finding besides "still". */
	for (k = 0; k < d->count; k++)
		found->kinds[d->fibers[k]] &= (uint8_t) ~(1u << d->kind | LASTING);
	found->lasting -= d->lasting;
	found->count--;
	memmove(found->at + i, found->at + i + 1, (found->count - i) * sizeof *found->at);
}

size_t ins_deadlocks_count(const struct ins_deadlocks *found)
{
	return found->count;
}

size_t ins_deadlocks_lasting(const struct ins_deadlocks *found)
{
	return found->lasting;
}

const struct ins_deadlock *ins_deadlocks_at(const struct ins_deadlocks *found, size_t i)
{
	return &found->at[i];
}

const struct ins_graph *ins_deadlocks_graph(const struct ins_deadlocks *found)
{
	return found->graph;
}

size_t ins_deadlocks_threads(const struct ins_deadlocks *found, const struct ins_deadlock *d)
{
	size_t i, n = 0;

	for (i = 0; i < d->count; i++)
		n += node_at(found, d->fibers[i])->thread;
	return n;
}

static bool all_run(const struct ins_deadlocks *found, const struct ins_deadlock *d)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		if (!node_at(found, d->fibers[i])->runs)
			return false;
	return true;
}

bool ins_deadlocks_fleeting(const struct ins_deadlocks *found)
{
	size_t i;

	for (i = 0; i < found->count; i++) {
		const struct ins_deadlock *d = &found->at[i];

		if (d->kind == INS_DEADLOCK_SELF || d->kind == INS_DEADLOCK_STILL ||
		    (d->kind == INS_DEADLOCK_CYCLE && all_run(found, d)))
			return true;
	}
	return false;
}
