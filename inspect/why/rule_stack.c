/* SPDX-License-Identifier: MIT */
/*
 * rule_stack.c - fibers whose stacks are nearly full, by the function that they run
 *
 * What a stack holds now is known of every fiber that does not run. How deep it was ever used is known
 * in a core, and in a program with few fibers (INS_LOOK_DEPTHS). Stacks are reused: that may have been
 * another fiber's use. It is the same program's, and the next one may be deeper.
 */
#include "inspect/why/collect.h"

#define SPARE_PART 10 /* nearly full: less than one in so many bytes is left */

/*
 * The most that was ever used, if that is known. A stack of which every page is in memory says nothing:
 * a debugger that has written a core has read all of it, or the system has made it part of a huge page.
 */
static uint64_t used(const struct fib_row *row)
{
	return row->stack_high_water < row->stack_size && row->stack_high_water > row->stack_used
		       ? row->stack_high_water
		       : row->stack_used;
}

/* How much of a stack that is nearly full is used. Of a thread's a snapshot has that part only. */
static int64_t nearly_full(const struct ins_look *look, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;

	(void)look;
	if ((fiber->flags & INS_FIBER_THREAD) || !row->stack_size ||
	    used(row) < row->stack_size - row->stack_size / SPARE_PART || used(row) > INT64_MAX)
		return -1;
	return (int64_t)used(row);
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	return ins_collect(look, &ins_rule_stack, nearly_full, ret);
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber fullest;
	char entry[256];

	ins_look_get(look, f->subject, &fullest);
	ins_look_say_count(&line, f->fibers, "fiber has used nearly all of its stack",
			   "fibers have used nearly all of their stacks");
	line = ins_finding_line(f);
	ins_look_say_fiber(&fullest, &line);
	ins_strbuf_text(&line, " has used ");
	ins_strbuf_number(&line, used(&fullest.row));
	ins_strbuf_text(&line, " of ");
	ins_strbuf_number(&line, fullest.row.stack_size);
	ins_strbuf_text(&line, " bytes, and runs ");
	ins_look_place_of(look, fullest.row.entry, false, entry, sizeof entry);
	ins_strbuf_text(&line, entry[0] ? entry : "an unknown function");
	ins_look_place(look, &fullest, f->place, sizeof f->place);
	f->more[0] = "bt";
	f->more_id[0] = fullest.row.id;
}

const struct ins_rule ins_rule_stack = {"stack", "stacks that are nearly full", find, say,
					INS_NEEDS_ONE};
