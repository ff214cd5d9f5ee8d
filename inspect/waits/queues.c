/* SPDX-License-Identifier: MIT */
/* queues.c - waiting fibers by object and by holder */
#include "inspect/waits/queues.h"

#include <errno.h>
#include <stdlib.h>

struct ins_queues {
	const struct ins_graph *graph;
	size_t *fibers;
	size_t fiber_count;
	size_t all; /* fibers that wait */
	struct ins_queue *queues;
	size_t queue_count;
	struct ins_holder *holders;
	size_t holder_count;
};

void ins_queues_free(struct ins_queues *q)
{
	if (!q)
		return;
	free(q->fibers);
	free(q->queues);
	free(q->holders);
	free(q);
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b, void *context)
{
	const struct ins_graph *graph = context;
	const struct ins_node *x = ins_graph_at(graph, *(const size_t *)a);
	const struct ins_node *y = ins_graph_at(graph, *(const size_t *)b);
	int order = compare(x->holder, y->holder);

	if (!order)
		order = compare(x->object, y->object);
	if (!order)
		order = compare(x->kind, y->kind);
	return order ? order : compare(x->id, y->id);
}

static bool same_queue(const struct ins_node *a, const struct ins_node *b)
{
	return a->holder == b->holder && a->object == b->object && a->kind == b->kind;
}

static void count_age(struct ins_queue *queue, int64_t age)
{
	if (!queue->aged || age < queue->age_min)
		queue->age_min = age;
	if (!queue->aged || age > queue->age_max)
		queue->age_max = age;
	queue->aged = true;
}

/*
 * The fibers of a holder and of a queue are adjacent. The shared part of a cycle is not behind
 * itself.
 */
static void count_in(struct ins_queues *q, size_t i)
{
	const struct ins_node *node = ins_graph_at(q->graph, q->fibers[i]);
	const struct ins_node *last = i ? ins_graph_at(q->graph, q->fibers[i - 1]) : NULL;
	struct ins_holder *h;
	struct ins_queue *queue;

	if (!last || last->holder != node->holder)
		q->holders[q->holder_count++] = (struct ins_holder){
			.id = node->holder,
			.at = node->to,
			.queues = &q->queues[q->queue_count],
		};
	h = &q->holders[q->holder_count - 1];
	if (!last || !same_queue(last, node)) {
		q->queues[q->queue_count++] = (struct ins_queue){
			.object = node->object,
			.kind = node->kind,
			.fibers = &q->fibers[i],
		};
		h->queue_count++;
	}
	queue = &q->queues[q->queue_count - 1];
	queue->count++;
	if (!node->thread)
		count_age(queue, node->age);
	h->waiting++;
	h->behind += node->behind;
}

static int by_length(const void *a, const void *b)
{
	const struct ins_queue *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return compare(*x->fibers, *y->fibers);
}

static int by_weight(const void *a, const void *b)
{
	const struct ins_holder *x = a, *y = b;
	uint64_t p = x->waiting + x->behind, q = y->waiting + y->behind;

	if (p != q)
		return p > q ? -1 : 1;
	return compare(x->id, y->id);
}

static void arrange(struct ins_queues *q)
{
	size_t i, queue = 0;

	for (i = 0; i < q->fiber_count; i++)
		count_in(q, i);
	for (i = 0; i < q->holder_count; i++) {
		struct ins_holder *h = &q->holders[i];

		qsort(&q->queues[queue], h->queue_count, sizeof *q->queues, by_length);
		queue += h->queue_count;
	}
	if (q->holder_count)
		qsort(q->holders, q->holder_count, sizeof *q->holders, by_weight);
}

int ins_queues_new(const struct ins_graph *graph, const bool *meant, struct ins_queues **ret)
{
	struct ins_queues *q = calloc(1, sizeof *q);
	size_t i, count = ins_graph_count(graph), n = 0;

	*ret = NULL;
	if (!q)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		n += ins_node_waits(ins_graph_at(graph, i));
	q->graph = graph;
	q->all = n;
	q->fibers = calloc(n + 1, sizeof *q->fibers);
	q->queues = calloc(n + 1, sizeof *q->queues);
	q->holders = calloc(n + 1, sizeof *q->holders);
	if (!q->fibers || !q->queues || !q->holders) {
		ins_queues_free(q);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++)
		if ((!meant || meant[i]) && ins_node_waits(ins_graph_at(graph, i)))
			q->fibers[q->fiber_count++] = i;
	if (q->fiber_count)
		qsort_r(q->fibers, q->fiber_count, sizeof *q->fibers, by_place, (void *)graph);
	arrange(q);
	*ret = q;
	return 0;
}

const struct ins_graph *ins_queues_graph(const struct ins_queues *q)
{
	return q->graph;
}

size_t ins_queues_holders(const struct ins_queues *q)
{
	return q->holder_count;
}

const struct ins_holder *ins_queues_holder(const struct ins_queues *q, size_t i)
{
	return &q->holders[i];
}

uint64_t ins_queues_waiting(const struct ins_queues *q)
{
	return q->fiber_count;
}

uint64_t ins_queues_all(const struct ins_queues *q)
{
	return q->all;
}
