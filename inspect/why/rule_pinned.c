/* SPDX-License-Identifier: MIT */
/*
 * rule_pinned.c - a fiber waits while it is pinned, so its carrier runs no other
 *
 * How long it has waited is not known (look.h). It must wait for the same, with the same deadline, in
 * both readings. A single reading knows how long the wait still lasts, or how long the fiber has run.
 */
#include "inspect/why/collect.h"

static bool waits_pinned(const struct ins_look *look, const struct ins_fiber *fiber)
{
	const int64_t left = ins_fiber_left(fiber);

	return fiber->row.pins && ins_look_waits(fiber) && ins_look_stayed(look, fiber) &&
	       (left < 0 ? fiber->row.age >= INS_LOOK_LONG : left >= INS_LOOK_LONG);
}

static int64_t pinned_for(const struct ins_look *look, const struct ins_fiber *fiber)
{
	return waits_pinned(look, fiber) ? fiber->row.age : -1;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	return ins_collect(look, &ins_rule_pinned, pinned_for, ret);
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber longest;

	ins_look_get(look, f->subject, &longest);
	ins_look_say_count(&line, f->fibers, "fiber waits while it is pinned",
			   "fibers wait while they are pinned");
	ins_strbuf_text(&line, f->fibers == 1 ? ", and its carrier runs no other one"
					      : ", and their carriers run no other ones");
	ins_collect_say(look, &longest, f);
}

const struct ins_rule ins_rule_pinned = {"pinned", "fibers that wait while they are pinned", find,
					 say, INS_NEEDS_ONE};
