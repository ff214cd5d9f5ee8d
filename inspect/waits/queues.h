/* SPDX-License-Identifier: MIT */
/*
 * queues.h - waiting fibers by object and by holder
 *
 * When ten thousand fibers hang, most of them hang on one fiber. A queue is the fibers that wait
 * for one object in one way. A holder has the queues of the objects that it holds. The holder that
 * blocks the most fibers comes first.
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
	const size_t *fibers; /* indices in the table, by id */
	size_t count;
	bool aged;		  /* some of them are fibers; the age of a thread is unknown */
	int64_t age_min, age_max; /* ns, of the fibers; 0: aged is false */
};

struct ins_holder {
	uint64_t id;			/* as in a row; 0: the holder is unknown */
	size_t at;			/* index in the table, or INS_NOBODY */
	const struct ins_queue *queues; /* largest first */
	size_t queue_count;
	uint64_t waiting; /* fibers in its queues */
	uint64_t behind;  /* fibers that wait for those, directly or indirectly */
};

struct ins_queues;

/*
 * Build the queues of a graph, which is borrowed. meant: for each fiber, whether its wait counts;
 * NULL: all count; used during the call only. `behind` includes waits that do not count. -ENOMEM.
 */
int ins_queues_new(const struct ins_graph *graph, const bool *meant, struct ins_queues **ret);
void ins_queues_free(struct ins_queues *queues); /* NULL: nothing */

const struct ins_graph *ins_queues_graph(const struct ins_queues *queues);
size_t ins_queues_holders(const struct ins_queues *queues);
const struct ins_holder *ins_queues_holder(const struct ins_queues *queues, size_t i);
uint64_t ins_queues_waiting(const struct ins_queues *queues); /* fibers in all of them */
uint64_t ins_queues_all(const struct ins_queues *queues); /* including waits that do not count */

#endif
