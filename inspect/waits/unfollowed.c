/* SPDX-License-Identifier: MIT */
/* unfollowed.c - waits that may be part of a deadlock, but whose holder is not known */
#include "inspect/waits/unfollowed.h"

#include <string.h>

#include "inspect/model/words.h"
#include "layout/layout.h"

bool ins_unfollowed_is(const struct ins_node *node)
{
	if (node->dead || node->holder || node->deadline != INT64_MAX)
		return false;
	switch (node->kind) {
	case FIB_WAIT_NONE:
	case FIB_WAIT_YIELD:
	case FIB_WAIT_SLEEP:
	case FIB_WAIT_FD:
	case FIB_WAIT_TIMER:
	case FIB_WAIT_OFFLOAD:
	case FIB_WAIT_OP:
	case FIB_WAIT_PINNED:
	case INS_WAIT_CALL:
		return false;
	case FIB_WAIT_SELECT:
		return node->object != 0; /* 0: it waits for descriptors only */
	default:
		return true;
	}
}

void ins_unfollowed_count(const struct ins_graph *graph, struct ins_unfollowed *ret)
{
	size_t i, count = ins_graph_count(graph);

	memset(ret, 0, sizeof *ret);
	for (i = 0; i < count; i++) {
		const struct ins_node *node = ins_graph_at(graph, i);

		if (ins_unfollowed_is(node))
			ret->count[node->kind]++;
	}
}
