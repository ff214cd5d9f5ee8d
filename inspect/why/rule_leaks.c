/* SPDX-License-Identifier: MIT */
/*
 * rule_leaks.c - fibers that nothing alive can wake
 *
 * Only if it is asked for (--deep): the whole memory of the program is read. Fibers in a cycle of locks
 * are lost too, but rule_deadlock.c says more about them.
 */
#include "inspect/why/rules.h"

#include <errno.h>
#include <string.h>

#include "inspect/model/words.h"
#include "inspect/text/duration.h"

/* Leave out the fibers that are in a deadlock. */
static void leave_out(struct ins_look *look)
{
	struct ins_lost *lost = &look->lost;
	struct ins_fiber fiber;
	size_t i, n = 0;

	for (i = 0; i < lost->count; i++) {
		ssize_t at;

		ins_table_get(lost->table, lost->at[i], &fiber);
		at = ins_table_find(look->last.table, fiber.row.id);
		if (at >= 0 && ins_graph_at(look->last.graph, (size_t)at)->lasts)
			continue;
		lost->at[n++] = lost->at[i];
	}
	lost->count = n;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	struct ins_error error = {""};
	size_t i;
	int rc;

	if (!look->deep)
		return 0;
	rc = ins_lost_find(look->source, false, &look->lost, &error);
	if (rc < 0) {
		ins_problems_add(&look->source->problems, "lost fibers were not searched for: %s",
				 error.text[0] ? error.text : strerror(-rc));
		return 0;
	}
	if (!look->lost.certain)
		return 0; /* a problem of the source says so */
	leave_out(look);
	rc = ins_lost_groups(&look->lost, &look->lost_groups);
	for (i = 0; rc == 0 && i < look->lost_groups.count; i++) {
		struct ins_finding *f = ins_findings_add(ret, &ins_rule_leaks, INS_LASTS);

		if (!f)
			return -ENOMEM;
		f->fibers = f->weight = look->lost_groups.at[i].fibers;
		f->subject = i;
	}
	return rc;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	const struct ins_lost_group *g = &look->lost_groups.at[f->subject];
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber example;
	char place[256] = "", wait[256];

	ins_lost_groups_example(&look->lost, g, look->source, &example);
	f->ids = g->ids;
	ins_look_place_of(look, g->spawn_pc, true, f->place, sizeof f->place);
	ins_look_place(look, &example, place, sizeof place);
	ins_look_say_count(&line, g->fibers, "fiber is lost: ", "fibers are lost: ");
	ins_strbuf_text(&line, g->fibers == 1 ? "it waits for a " : "they wait for a ");
	ins_strbuf_escaped(&line,
			   ins_words_wait_kind(&look->source->layout, example.row.wait_kind));
	ins_strbuf_text(&line, " that nothing alive can reach; longest ");
	ins_duration_say(&line, g->longest);
	line = ins_finding_line(f);
	ins_strbuf_text(&line, "spawned at ");
	ins_strbuf_text(&line, f->place[0] ? f->place : "an unknown place");
	line = ins_finding_line(f);
	ins_look_say_fiber(&example, &line);
	ins_strbuf_text(&line, " waits for ");
	ins_strbuf_text(&line,
			ins_words_wait(&look->source->layout, &example, false, wait, sizeof wait));
	ins_look_say_at(place, &line);
	f->more[0] = "show";
	f->more_id[0] = example.row.id;
	f->more[1] = "leaks";
}

const struct ins_rule ins_rule_leaks = {"leaks", "fibers that nothing alive can wake (--deep)",
					find, say, INS_NEEDS_MEMORY};
