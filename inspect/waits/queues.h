/* SPDX-License-Identifier: MIT */
/*
 * queues.h - what fibers wait for, by who holds it
 *
 * Ten thousand fibers that hang mostly hang on one. A queue is the fibers that wait for one thing in one way, a holder has
 * the queues of what it holds, and the holder that holds up most fibers comes first.
 */
#ifndef INS_QUEUES_H
#define INS_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/waits/graph.h"

struct ins_queue {
	uint64_t object;
	uint8_t kind;
	const size_t *fibers; /* their indices in the table, by id */
	size_t count;
	int64_t age_min, age_max; /* ns */
};

struct ins_holder {
	uint64_t id; /* as in a row; 0: those of whom nobody knows who holds it */
	size_t at;   /* in the table, or INS_NOBODY */
	const struct ins_queue *queues; /* largest first */
	size_t queue_count;
	uint64_t waiting; /* fibers in its queues */
	uint64_t behind;  /* fibers that wait for those */
};

struct ins_queues;

/* Those of a graph, which is borrowed; meant: whether the wait of each fiber counts, which is looked at now only; NULL: all do. Who is
 * behind them is counted in any case. -ENOMEM. */
int ins_queues_new(const struct ins_graph *graph, const bool *meant, struct ins_queues **ret);
void ins_queues_free(struct ins_queues *queues); /* NULL: nothing */

const struct ins_graph *ins_queues_graph(const struct ins_queues *queues);
size_t ins_queues_holders(const struct ins_queues *queues);
const struct ins_holder *ins_queues_holder(const struct ins_queues *queues, size_t i);
uint64_t ins_queues_waiting(const struct ins_queues *queues); /* fibers in all of them */
uint64_t ins_queues_all(const struct ins_queues *queues);     /* and with those that do not count */

#endif
