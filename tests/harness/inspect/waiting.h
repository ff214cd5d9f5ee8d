/* SPDX-License-Identifier: MIT */
/* waiting.h - tables of fibers that wait for each other */
#ifndef TEST_INSPECT_WAITING_H
#define TEST_INSPECT_WAITING_H

#include "tests/harness/inspect/head.h"
#include "inspect/waits/deadlock.h"
#include "inspect/waits/graph.h"
#include "inspect/waits/queues.h"
#include "tests/harness/inspect/rows.h"

struct waiting {
	struct ins_table *table;
	struct ins_graph *graph;
};

static inline struct waiting waiting_new(void)
{
	struct waiting w = {0};

	assert_int_equal(ins_table_new(&w.table), 0);
	return w;
}

static inline void waiting_put(struct waiting *w, const struct ins_fiber *fiber)
{
	assert_int_equal(ins_table_add(w->table, fiber), 0);
}

/* Add a fiber without a parent that waits for a lock at 0x1000 * object, which `holder` holds (0:
 * unknown). */
static inline struct ins_fiber waiting_for(uint64_t id, unsigned kind, uint64_t object,
					   uint64_t holder)
{
	char name[16];
	struct ins_fiber fiber;

	snprintf(name, sizeof name, "f%u", (unsigned)id);
	fiber = rows_fiber(id, name);
	fiber.row.parent = 0;
	fiber.row.wait_kind = (uint8_t)kind;
	fiber.row.wait_object = 0x1000 * object;
	fiber.row.holder = holder;
	if (object)
		snprintf(fiber.row.object_name, sizeof fiber.row.object_name, "o%u",
			 (unsigned)object);
	return fiber;
}

static inline void waiting_lock(struct waiting *w, uint64_t id, uint64_t object, uint64_t holder)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_MUTEX, object, holder);

	waiting_put(w, &fiber);
}

static inline void waiting_join(struct waiting *w, uint64_t id, uint64_t parent, uint64_t target)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_JOIN, 0, 0);

	fiber.row.parent = parent;
	fiber.row.wait_arg = target;
	fiber.row.wait_object = 0x100000 + target;
	waiting_put(w, &fiber);
}

/* Add a fiber that is not blocked. */
static inline void waiting_free_one(struct waiting *w, uint64_t id, uint64_t parent)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_SLEEP, 0, 0);

	fiber.row.parent = parent;
	waiting_put(w, &fiber);
}

static inline void waiting_dead(struct waiting *w, uint64_t id)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_NONE, 0, 0);

	fiber.row.state = FIBER_DEAD;
	waiting_put(w, &fiber);
}

/* The word of a rwlock that these n hold for reading: ids, or FIB_HOLDER_THREAD | tid. */
static inline uint64_t waiting_readers(const uint64_t who[], size_t n)
{
	uint64_t word = n;

	for (size_t i = 0; i < n; i++) {
		const uint32_t number = (uint32_t)who[i] << 1 | ((who[i] & FIB_HOLDER_THREAD) != 0);

		word ^= (uint64_t)(number * FIB_READERS_FACTOR) << FIB_READERS_MARK;
	}
	return word;
}

/* Let a fiber hold that lock for reading too. */
static inline void waiting_read(struct ins_fiber *fiber, uint64_t object)
{
	fiber->row.reads[fiber->row.reading++] = 0x1000 * object;
}

/* Add a fiber that waits to write (or to read again) what `readers` (a word) hold for reading. */
static inline struct ins_fiber waiting_for_readers(uint64_t id, bool writes, uint64_t object,
						   uint64_t readers)
{
	struct ins_fiber fiber =
		waiting_for(id, writes ? FIB_WAIT_RWLOCK_WRITE : FIB_WAIT_RWLOCK_READ, object, 0);

	fiber.row.readers = readers;
	return fiber;
}

static inline void waiting_graph(struct waiting *w)
{
	assert_int_equal(ins_graph_new(w->table, &w->graph), 0);
}

static inline const struct ins_node *waiting_node(const struct waiting *w, uint64_t id)
{
	ssize_t at = ins_table_find(w->table, id);

	assert_true(at >= 0);
	return ins_graph_at(w->graph, (size_t)at);
}

static inline void waiting_free(struct waiting *w)
{
	ins_graph_free(w->graph);
	ins_table_free(w->table);
}

#endif
