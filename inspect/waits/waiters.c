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

void ins_waiters_find(struct ins_table *table, uint64_t id, struct ins_waiters *ret)
{
	size_t i, n = ins_table_count(table);
	struct ins_fiber fiber;

	*ret = (struct ins_waiters){0};
	for (i = 0; i < n; i++) {
		ins_table_get(table, i, &fiber);
		if (ins_wait_cause(&fiber.row) != id)
			continue;
		if (fiber.row.wait_kind == FIB_WAIT_JOIN)
			ret->joining++;
		else
			ret->wanting++;
		ins_sample_lowest(&ret->ids, fiber.row.id);
	}
}
