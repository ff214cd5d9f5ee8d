/* SPDX-License-Identifier: MIT */
/* stillness.c - whether anything is left that can wake a fiber */
#include "inspect/waits/stillness.h"

#include <fiber/fiber.h>

#include "inspect/process/threads.h"

/* Whether time, the kernel or a helper thread may end a wait of that kind. */
static bool ends_from_outside(const struct fib_row *row)
{
	switch (row->wait_kind) {
	case FIB_WAIT_PARK:
	case FIB_WAIT_JOIN:
	case FIB_WAIT_MUTEX:
	case FIB_WAIT_RWLOCK_READ:
	case FIB_WAIT_RWLOCK_WRITE:
	case FIB_WAIT_COND:
	case FIB_WAIT_SEM:
	case FIB_WAIT_EVENT:
	case FIB_WAIT_BARRIER:
	case FIB_WAIT_ONCE:
	case FIB_WAIT_WAITGROUP:
	case FIB_WAIT_GROUP:
	case FIB_WAIT_CHAN_SEND:
	case FIB_WAIT_CHAN_RECV:
	case FIB_WAIT_PTHREAD_MUTEX:
	case FIB_WAIT_PTHREAD_COND:
	case FIB_WAIT_PTHREAD_RWLOCK:
	case FIB_WAIT_PTHREAD_SEM:
	case FIB_WAIT_PTHREAD_BARRIER:
	case FIB_WAIT_PTHREAD_ONCE:
		return false;
	case FIB_WAIT_SELECT:
		return row->wait_arg >> 32; /* cases that are descriptors */
	default:
		return true;
	}
}

bool ins_stillness_needs_waker(const struct fib_row *row)
{
	if (row->wait_kind == FIB_WAIT_NONE || row->deadline != INT64_MAX)
		return false;
	/*
	 * A pinned fiber that waits is in the state "running". Its switch count does not change from
	 * one wait to the next, so two readings do not show that it has not moved.
	 */
	return row->state == FIBER_SUSPENDED && !ends_from_outside(row);
}

/* Whether only another fiber or a thread ends the wait of this fiber, or it never runs. */
static bool is_still(const struct fib_row *row)
{
	return row->state == FIBER_DEAD || row->state == FIBER_CREATED ||
	       ins_stillness_needs_waker(row);
}

bool ins_stillness_old(const struct ins_graph *graph)
{
	const int64_t took = ins_table_summary(ins_graph_table(graph))->sampled_ns;
	struct ins_fiber fiber;
	size_t i;

	for (i = 0; took && i < ins_graph_count(graph); i++) {
		ins_table_get(ins_graph_table(graph), i, &fiber);
		if (fiber.row.wait_kind != FIB_WAIT_NONE && fiber.row.age - INS_AGE_MOMENT <= took)
			return false;
	}
	return true;
}

void ins_stillness_look(const struct ins_graph *graph, const struct ins_source *source, pid_t pid,
			struct ins_stillness *ret)
{
	const struct fib_layout *layout = &source->layout;
	struct ins_fiber fiber;
	uint32_t threads;
	size_t i, waiting = 0;

	*ret = (struct ins_stillness){false, -1};
	for (i = 0; i < ins_graph_count(graph); i++) {
		ins_table_get(ins_graph_table(graph), i, &fiber);
		/* The threads are counted below. */
		if (fiber.flags & INS_FIBER_THREAD && fiber.row.id & FIB_HOLDER_THREAD)
			continue;
		if (!is_still(&fiber.row))
			return;
		waiting += fiber.row.wait_kind != FIB_WAIT_NONE;
	}
	ret->all_wait = waiting != 0;
	threads = source->threads ? source->threads : ins_threads_count(pid);
	if (!ret->all_wait || !threads || !layout->waiting_threads || !layout->carriers)
		return;
	/* Threads may have ended since they were counted. */
	ret->threads = (int64_t)threads - layout->carriers - layout->waiting_threads;
	if (ret->threads < 0)
		ret->threads = -1;
}
