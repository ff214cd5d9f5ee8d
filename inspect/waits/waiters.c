/* SPDX-License-Identifier: MIT */
/* waiters.c - which fiber a wait depends on, and which fibers wait for a given one */
#include "inspect/waits/waiters.h"

#include <stdlib.h>

uint64_t ins_wait_cause(const struct fib_row *row)
{
	if (row->wait_kind == FIB_WAIT_NONE)
		return 0;
	if (row->wait_kind == FIB_WAIT_JOIN)
		return row->wait_arg != FIB_ROW_UNKNOWN ? row->wait_arg : 0;
	return row->holder & FIB_HOLDER_THREAD ? 0 : row->holder;
}

static int compare(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

/* Whether fiber i waits to write what the fiber at `at` (-1: it has no row) reads. */
static bool waits_for_reader(const struct ins_graph *graph, size_t i, ssize_t at)
{
	const struct ins_read_lock *l = ins_graph_read_lock(graph, i);
	const size_t reader = (size_t)at;

	return at >= 0 && l && ins_graph_at(graph, i)->kind == FIB_WAIT_RWLOCK_WRITE &&
	       bsearch(&reader, l->fibers, l->count, sizeof reader, compare);
}

void ins_waiters_find(const struct ins_graph *graph, uint64_t id, struct ins_waiters *ret)
{
	const size_t n = ins_graph_count(graph);
	const ssize_t at = ins_table_find(ins_graph_table(graph), id);
	size_t i;

	*ret = (struct ins_waiters){0};
	for (i = 0; i < n; i++) {
		const struct ins_node *node = ins_graph_at(graph, i);

		if (node->holder != id && !waits_for_reader(graph, i, at))
			continue;
		if (node->kind == FIB_WAIT_JOIN)
			ret->joining++;
		else
			ret->wanting++;
		ins_sample_lowest(&ret->ids, node->id);
	}
}
