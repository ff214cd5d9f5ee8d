/* SPDX-License-Identifier: MIT */
/*
 * rule_carrier.c - a fiber keeps a carrier, and others wait for one
 *
 * A fiber that computes for long is no fault while the others get their turn. It is reported if
 * fibers of its runtime that could run have waited for longer than ins_look_delay() meanwhile.
 */
#include "inspect/why/rules.h"

#include <errno.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/text/duration.h"
#include "inspect/why/doing.h"
#include "inspect/why/runtimes.h"

static int find(struct ins_look *look, struct ins_findings *ret)
{
	size_t i, n = ins_look_count(look);
	struct ins_runtimes runtimes;
	struct ins_finding *f;
	struct ins_fiber fiber;
	uint64_t behind;

	if (look->halted)
		return 0;
	ins_runtimes_find(look, &runtimes);
	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		if (!ins_look_keeps(look, &fiber))
			continue;
		behind = ins_runtimes_delayed(&runtimes, fiber.row.runtime);
		if (!behind)
			continue;
		f = ins_findings_add(ret, &ins_rule_carrier, INS_SLOW);
		if (!f)
			return -ENOMEM;
		f->fibers = 1;
		f->weight = behind;
		f->subject = i;
	}
	return 0;
}

/*
 * it is in system call nanosleep at store.c:230 in compact; it was seen computing at ..; it is computing,
 * and runs store.c:200 in compact
 */
static void say_doing(struct ins_look *look, const struct ins_fiber *fiber, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_line(f);
	char doing[400], entry[256];

	ins_why_doing_at(look, fiber, f->place, doing, sizeof doing);
	ins_strbuf_text(&line, strncmp(doing, "seen", 4) == 0 ? "it was "
			       : doing[0] == ' '	      ? "it is"
			       : doing[0]		      ? "it is "
							      : "it ");
	ins_strbuf_text(&line, doing);
	if (f->place[0])
		return;
	ins_look_place_of(look, fiber->row.entry, false, entry, sizeof entry);
	ins_strbuf_text(&line, doing[0] ? ", and runs " : "runs ");
	ins_strbuf_text(&line, entry[0] ? entry : "an unknown function");
}

/* How many fibers have waited for long for the carrier of this one, and may run on no other. */
static uint64_t bound_behind(struct ins_look *look, const struct ins_fiber *fiber)
{
	size_t i, n = ins_look_count(look);
	struct ins_fiber other;
	uint64_t count = 0;

	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &other);
		count += other.row.bound == fiber->row.carrier + 1u && ins_look_runnable(&other) &&
			 other.row.age >= ins_look_delay(look) &&
			 ins_runtimes_may_be_one(other.row.runtime, fiber->row.runtime);
	}
	return count;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber fiber;
	uint64_t bound;

	ins_look_get(look, f->subject, &fiber);
	ins_sample_lowest(&f->ids, fiber.row.id);
	ins_look_say_fiber(&fiber, &line);
	ins_strbuf_text(&line, " has kept carrier ");
	ins_strbuf_number(&line, fiber.row.carrier);
	ins_strbuf_text(&line, " for ");
	ins_duration_say(&line, fiber.row.age);
	ins_strbuf_text(&line, ", and ");
	ins_look_say_count(&line, f->weight, "fiber that can run waits",
			   "fibers that can run wait");
	bound = bound_behind(look, &fiber);
	if (bound) {
		ins_strbuf_text(&line, ", ");
		ins_strbuf_number(&line, bound);
		ins_strbuf_text(&line, " bound to it");
	}
	say_doing(look, &fiber, f);
	f->more[0] = "show";
	f->more_id[0] = fiber.row.id;
}

const struct ins_rule ins_rule_carrier = {
	"carrier", "a fiber that keeps a carrier while others could run", find, say, INS_NEEDS_ONE};
