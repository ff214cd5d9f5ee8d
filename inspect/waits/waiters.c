/* SPDX-License-Identifier: MIT */
/* waiters.c - which fiber a wait depends on, and which fibers wait for a given one */
#include "inspect/waits/waiters.h"

uint64_t ins_wait_cause(const struct fib_row *row)
{
	if (row->wait_kind == FIB_WAIT_NONE)
		return 0;
	if (row->wait_kind == FIB_WAIT_JOIN)
		return row->wait_arg != FIB_ROW_UNKNOWN ? row->wait_arg : 0;
	return row->holder & FIB_HOLDER_THREAD ? 0 : row->holder;
}

static bool reads(const struct fib_row *row, uint64_t object)
{
	unsigned i;

	for (i = 0; object && i < FIB_ROW_READS; i++)
		if (row->reads[i] == object)
			return true;
	return false;
}

void ins_waiters_find(const struct ins_graph *graph, uint64_t id, struct ins_waiters *ret)
{
	const size_t n = ins_graph_count(graph);
	struct ins_table *table = ins_graph_table(graph);
	const ssize_t at = ins_table_find(table, id);
	struct ins_fiber self = {.row = {.id = id}};
	size_t i;

	if (at >= 0)
		ins_table_get(table, (size_t)at, &self);
	*ret = (struct ins_waiters){0};
	for (i = 0; i < n; i++) {
		const struct ins_node *node = ins_graph_at(graph, i);

		if (node->holder != id &&
		    !(node->lock != INS_NOBODY && node->kind == FIB_WAIT_RWLOCK_WRITE &&
		      reads(&self.row, node->object)))
			continue;
		if (node->kind == FIB_WAIT_JOIN)
			ret->joining++;
		else
			ret->wanting++;
		ins_sample_lowest(&ret->ids, node->id);
	}
}
