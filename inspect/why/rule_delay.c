/* SPDX-License-Identifier: MIT */
/*
 * rule_delay.c - fibers that can run wait long for a carrier, and no single fiber is to blame
 *
 * Reported for a runtime when one in a hundred of its runnable fibers has waited for longer than
 * ins_look_delay(), and none of its carriers is kept: then there is more work than carriers, or the
 * process gets too little CPU. It must be so in both readings: on a busy machine a process can be without
 * a CPU for as long once, and then all its fibers have waited.
 */
#include "inspect/why/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/text/duration.h"
#include "inspect/why/ran.h"
#include "inspect/why/runtimes.h"

/* The runnable fibers of a runtime in a reading. */
struct runnable {
	size_t count;
	size_t oldest;	 /* index */
	int64_t longest; /* ns */
	int64_t most;	 /* ns, the 99th percentile */
};

static int ascending(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* -ENOMEM. */
static int look_at(struct ins_table *table, uint64_t runtime, struct runnable *ret)
{
	size_t i, n = ins_table_count(table);
	int64_t *ages = calloc(n + 1, sizeof *ages);
	struct ins_fiber fiber;

	*ret = (struct runnable){0};
	if (!ages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		ins_table_get(table, i, &fiber);
		if (!ins_look_runnable(&fiber) ||
		    !ins_runtimes_may_be_one(fiber.row.runtime, runtime))
			continue;
		ages[ret->count++] = fiber.row.age;
		if (fiber.row.age > ret->longest) {
			ret->longest = fiber.row.age;
			ret->oldest = i;
		}
	}
	if (ret->count) {
		qsort(ages, ret->count, sizeof *ages, ascending);
		ret->most = ages[(ret->count - 1) * 99 / 100];
	}
	free(ages);
	return 0;
}

/* Whether the runnable fibers of a runtime wait long, in both readings. *ret: in the last one. */
static int judge(const struct ins_look *look, uint64_t runtime, struct runnable *ret,
		 bool *ret_long)
{
	const int64_t delay = ins_look_delay(look);
	struct runnable earlier;
	int rc = look_at(look->last.table, runtime, ret);

	*ret_long = rc == 0 && ret->count && ret->most >= delay;
	if (!*ret_long || look->single)
		return rc;
	rc = look_at(look->earlier.table, runtime, &earlier);
	*ret_long = rc == 0 && earlier.count && earlier.most >= delay;
	return rc;
}

/*
 * Whether the fibers of an entry are judged with another one's. A snapshot mixes rows with and without
 * the runtime, and fibers of an unknown runtime count in each runtime.
 */
static bool is_judged_elsewhere(const struct ins_runtimes *runtimes, uint64_t id)
{
	size_t i;

	for (i = 0; !id && i < runtimes->count; i++)
		if (runtimes->at[i].id && runtimes->at[i].runnable)
			return true;
	return false;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	struct ins_runtimes runtimes;
	struct ins_finding *f;
	struct runnable last;
	bool wait_long;
	size_t i;

	if (look->halted)
		return 0;
	ins_runtimes_find(look, &runtimes);
	for (i = 0; i < runtimes.count; i++) {
		const uint64_t id = runtimes.at[i].id;
		int rc;

		if (!runtimes.at[i].runnable || is_judged_elsewhere(&runtimes, id) ||
		    ins_runtimes_kept(&runtimes, id))
			continue;
		rc = judge(look, id, &last, &wait_long);
		if (rc < 0)
			return rc;
		if (!wait_long)
			continue;
		f = ins_findings_add(ret, &ins_rule_delay, INS_SLOW);
		if (!f)
			return -ENOMEM;
		f->fibers = f->weight = last.count;
		f->subject = last.oldest;
	}
	return 0;
}

/* 40 fibers of trouble.c:250 in compute (98 %); of a single reading without a share of the time. */
static void say_function(struct ins_look *look, const struct ins_ran_functions *all,
			 const struct ins_ran_function *ran, struct ins_finding *f,
			 struct ins_strbuf *line)
{
	char place[256];

	ins_look_place_of(look, ran->entry, false, place, sizeof place);
	ins_look_say_count(line, ran->fibers, "fiber of ", "fibers of ");
	ins_strbuf_text(line, place[0] ? place : "an unknown function");
	/* It is the place of a finding whose oldest fiber has moved on. */
	if (!f->place[0])
		snprintf(f->place, sizeof f->place, "%s", place);
	if (!all->ns)
		return;
	ins_strbuf_text(line, " (");
	ins_strbuf_number(line, ran->ns * 100 / all->ns);
	ins_strbuf_text(line, " %)");
}

/* What the carriers run instead. */
static void say_ran(struct ins_look *look, uint64_t runtime, struct ins_finding *f)
{
	struct ins_strbuf line;
	struct ins_ran_functions all;
	size_t i;

	ins_ran_find(look, runtime, &all);
	if (!all.count)
		return;
	line = ins_finding_line(f);
	ins_strbuf_text(&line, look->single ? "the carriers run " : "the carriers ran ");
	for (i = 0; i < all.count && i < 3; i++) {
		ins_strbuf_text(&line, i ? ", " : "");
		say_function(look, &all, &all.at[i], f, &line);
	}
	if (i < all.count)
		ins_strbuf_text(&line, ", and others");
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber oldest;
	struct runnable last;

	ins_look_get(look, f->subject, &oldest);
	ins_sample_lowest(&f->ids, oldest.row.id);
	ins_look_say_count(&line, f->fibers, "fiber can run and waits", "fibers can run and wait");
	ins_strbuf_text(&line, " for a carrier, ");
	if (look_at(look->last.table, oldest.row.runtime, &last) == 0) {
		ins_strbuf_text(&line, "for ");
		ins_duration_say(&line, last.most);
		ins_strbuf_text(&line, " at the 99th percentile, ");
	}
	ins_strbuf_text(&line, "the longest for ");
	ins_duration_say(&line, oldest.row.age);
	ins_look_place(look, &oldest, f->place, sizeof f->place);
	line = ins_finding_line(f);
	ins_strbuf_text(&line, "longest: ");
	ins_look_say_fiber(&oldest, &line);
	ins_look_say_at(f->place, &line);
	say_ran(look, oldest.row.runtime, f);
	f->more[0] = "show";
	f->more_id[0] = oldest.row.id;
}

const struct ins_rule ins_rule_delay = {"delay", "fibers that can run wait long for a carrier",
					find, say, INS_NEEDS_ONE};
