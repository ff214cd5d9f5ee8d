/* SPDX-License-Identifier: MIT */
/* collect.c - one finding about all fibers that have the same fault */
#include "inspect/why/collect.h"

#include <errno.h>

int ins_collect(const struct ins_look *look, const struct ins_rule *rule, ins_degree_fn *degree,
		struct ins_findings *ret)
{
	size_t i, n = ins_look_count(look);
	struct ins_finding *f = NULL;
	struct ins_fiber fiber;
	int64_t most = -1;

	for (i = 0; i < n; i++) {
		int64_t has;

		ins_look_get(look, i, &fiber);
		has = degree(look, &fiber);
		if (has < 0)
			continue;
		f = f ? f : ins_findings_add(ret, rule, INS_SLOW);
		if (!f)
			return -ENOMEM;
		ins_sample_lowest(&f->ids, fiber.row.id);
		f->weight = ++f->fibers;
		if (has > most) {
			most = has;
			f->subject = i;
		}
	}
	return 0;
}

void ins_collect_say(struct ins_look *look, const struct ins_fiber *fiber,
		     struct ins_finding *finding)
{
	struct ins_strbuf line = ins_finding_line(finding);

	ins_look_say_fiber(fiber, &line);
	ins_strbuf_char(&line, ' ');
	ins_look_say_doing(look, fiber, &line);
	ins_look_place(look, fiber, finding->place, sizeof finding->place);
	ins_look_say_at(finding->place, &line);
	finding->more[0] = "show";
	finding->more_id[0] = fiber->row.id;
}
