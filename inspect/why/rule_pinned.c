/* SPDX-License-Identifier: MIT */
/*
 * rule_pinned.c - a fiber waits while it is pinned, so its carrier runs no other
 *
 * How long it has waited is not known (look.h). It must wait for the same, with the same deadline, in
 * both readings. A single reading knows how long the wait still lasts, or how long the fiber has run.
 */
#include "inspect/why/rules.h"

#include <errno.h>

static bool waits_pinned(const struct ins_look *look, const struct ins_fiber *fiber)
{
	const int64_t left = ins_fiber_left(fiber);

	return fiber->row.pins && ins_look_waits(fiber) && ins_look_stayed(look, fiber) &&
	       (left < 0 ? fiber->row.age >= INS_LOOK_LONG : left >= INS_LOOK_LONG);
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	size_t i, n = ins_look_count(look);
	struct ins_finding *f = NULL;
	struct ins_fiber fiber;
	int64_t longest = -1;

	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		if (!waits_pinned(look, &fiber))
			continue;
		f = f ? f : ins_findings_add(ret, &ins_rule_pinned, INS_SLOW);
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
	ins_look_say_count(&line, f->fibers, "fiber waits while it is pinned",
			   "fibers wait while they are pinned");
	ins_strbuf_text(&line, f->fibers == 1 ? ", and its carrier runs no other one"
					      : ", and their carriers run no other ones");
	line = ins_finding_line(f);
	ins_look_say_fiber(&longest, &line);
	ins_strbuf_char(&line, ' ');
	ins_look_say_doing(look, &longest, &line);
	ins_look_place(look, &longest, f->place, sizeof f->place);
	ins_look_say_at(f->place, &line);
	f->more[0] = "show";
	f->more_id[0] = longest.row.id;
}

const struct ins_rule ins_rule_pinned = {"pinned", "fibers that wait while they are pinned", find,
					 say};
