/* SPDX-License-Identifier: MIT */
/*
 * rule_forgotten.c - fibers that wait for a condition, semaphore or event that has forgotten them
 *
 * A fiber that waits without a deadline is in the queue of the object until it is woken. If the queue
 * has no waiter, no signal reaches the fiber any more: the object was initialised again, or its memory
 * was reused. A fiber that is being woken looks the same for a moment. So the wait must be old, and
 * the fiber must be so in both readings. In a single one no fiber may run or be about to.
 *
 * What it cannot know: whether anybody still means to signal an object that has its waiters. A fiber
 * that waits for work that no fiber sends any more looks like one that is idle, whatever was signalled
 * before. If nothing is left that could signal, the rule `deadlock` reports it.
 */
#include "inspect/why/collect.h"

#include "inspect/text/duration.h"
#include "inspect/waits/one_moment.h"

static bool is_forgotten(const struct ins_fiber *fiber)
{
	return (fiber->row.flags & FIB_ROW_FORGOTTEN) && ins_look_waits(fiber) &&
	       fiber->row.deadline == INT64_MAX && fiber->row.age >= INS_LOOK_LONG;
}

/* Whether it was forgotten in the earlier reading too. */
static bool was_forgotten(const struct ins_look *look, const struct ins_fiber *fiber)
{
	struct ins_fiber before;
	ssize_t at;

	if (look->single)
		return ins_graph_at_rest(look->last.graph);
	at = ins_table_find(look->earlier.table, fiber->row.id);
	if (at < 0)
		return false;
	ins_table_get(look->earlier.table, (size_t)at, &before);
	return before.row.flags & FIB_ROW_FORGOTTEN;
}

static int64_t forgotten_for(const struct ins_look *look, const struct ins_fiber *fiber)
{
	return is_forgotten(fiber) && was_forgotten(look, fiber) && ins_look_stayed(look, fiber)
		       ? fiber->row.age
		       : -1;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	return ins_collect(look, &ins_rule_forgotten, forgotten_for, ret);
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber longest;

	ins_look_get(look, f->subject, &longest);
	ins_look_say_count(&line, f->fibers, "fiber waits", "fibers wait");
	ins_strbuf_text(&line,
			" for an object that has no waiter in its queue: no signal reaches ");
	ins_strbuf_text(&line, f->fibers == 1 ? "it" : "them");
	ins_collect_say(look, &longest, f);
	line = ins_finding_line(f);
	ins_strbuf_text(&line, "the object was initialised again while it was waited for, or its "
			       "memory was reused");
}

const struct ins_rule ins_rule_forgotten = {"forgotten",
					    "waits for an object that has forgotten its waiters",
					    find, say, INS_NEEDS_ONE};
