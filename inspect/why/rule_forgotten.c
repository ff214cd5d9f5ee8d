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
 * that waits for work that nobody sends any more looks like one that is idle, whatever was signalled
 * before. If nothing is left that could signal, the rule `deadlock` reports it.
 */
#include "inspect/why/rules.h"

#include <errno.h>

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

static int find(struct ins_look *look, struct ins_findings *ret)
{
	size_t i, n = ins_look_count(look);
	struct ins_finding *f = NULL;
	struct ins_fiber fiber;
	int64_t longest = -1;

	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		if (!is_forgotten(&fiber) || !was_forgotten(look, &fiber) ||
		    !ins_look_stayed(look, &fiber))
			continue;
		f = f ? f : ins_findings_add(ret, &ins_rule_forgotten, INS_SLOW);
		if (!f)
			return -ENOMEM;
		ins_sample_lowest(&f->ids, fiber.row.id);
		f->weight = ++f->fibers;
		if (fiber.row.age > longest) {
			longest = fiber.row.age;
			f->subject = i;
		}
	}
	return 0;
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
	line = ins_finding_line(f);
	ins_look_say_fiber(&longest, &line);
	ins_strbuf_char(&line, ' ');
	ins_look_say_doing(look, &longest, &line);
	ins_look_place(look, &longest, f->place, sizeof f->place);
	ins_look_say_at(f->place, &line);
	line = ins_finding_line(f);
	ins_strbuf_text(&line, "the object was initialised again while it was waited for, or its "
			       "memory was reused");
	f->more[0] = "show";
	f->more_id[0] = longest.row.id;
}

const struct ins_rule ins_rule_forgotten = {
	"forgotten", "waits for an object that has forgotten its waiters", find, say};
