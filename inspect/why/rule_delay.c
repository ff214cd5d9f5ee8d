/* SPDX-License-Identifier: MIT */
/*
 * rule_delay.c - fibers that can run wait long for a carrier, and no single fiber is to blame
 *
 * Reported when one in a hundred runnable fibers has waited for longer than ins_look_delay(), and no
 * carrier is kept: then there is more work than carriers, or the process gets too little CPU. It must be so
 * in both readings: on a busy machine a process can be without a CPU for as long once, and then all its
 * fibers have waited.
 */
#include "inspect/why/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/text/duration.h"

/* The runnable fibers of a reading. */
struct runnable {
	int64_t *ages;
	size_t count;
	size_t oldest; /* index */
	int64_t longest;
};

static bool is_any_kept(const struct ins_look *look)
{
	size_t i, n = ins_look_count(look);
	struct ins_fiber fiber;
	bool any = false;

	for (i = 0; i < n && !any; i++) {
		ins_look_get(look, i, &fiber);
		any = ins_look_keeps(look, &fiber);
	}
	return any;
}

static void gather(struct ins_table *table, struct runnable *ret)
{
	size_t i, n = ins_table_count(table);
	struct ins_fiber fiber;

	for (i = 0; i < n; i++) {
		ins_table_get(table, i, &fiber);
		if (!ins_look_runnable(&fiber))
			continue;
		ret->ages[ret->count++] = fiber.row.age;
		if (fiber.row.age > ret->longest) {
			ret->longest = fiber.row.age;
			ret->oldest = i;
		}
	}
}

static int ascending(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The runnable fibers of a reading, and whether they wait long. -ENOMEM. */
static int look_at(const struct ins_look *look, struct ins_table *table, struct runnable *ret,
		   bool *ret_long)
{
	*ret = (struct runnable){.ages = calloc(ins_table_count(table) + 1, sizeof *ret->ages)};
	if (!ret->ages)
		return -ENOMEM;
	gather(table, ret);
	if (ret->count)
		qsort(ret->ages, ret->count, sizeof *ret->ages, ascending);
	*ret_long = ret->count && ret->ages[(ret->count - 1) * 99 / 100] >= ins_look_delay(look);
	free(ret->ages);
	return 0;
}

/* What the carriers run instead. It is the place of a finding whose oldest fiber has moved on. */
static void say_running(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_line(f);
	size_t i, n = ins_look_count(look);
	struct ins_fiber fiber;
	const char *separator = "the carriers run ";
	unsigned said = 0;
	char place[256];

	for (i = 0; i < n && said < 3; i++) {
		ins_look_get(look, i, &fiber);
		if (fiber.row.state != FIBER_RUNNING || ins_look_waits(&fiber))
			continue;
		ins_strbuf_text(&line, separator);
		ins_look_say_fiber(&fiber, &line);
		ins_look_place_of(look, fiber.row.entry, false, place, sizeof place);
		if (!f->place[0])
			snprintf(f->place, sizeof f->place, "%s", place);
		if (place[0]) {
			ins_strbuf_text(&line, " (");
			ins_strbuf_text(&line, place);
			ins_strbuf_char(&line, ')');
		}
		separator = ", ";
		said++;
	}
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	struct runnable earlier, last;
	struct ins_finding *f;
	bool wait_long = true;
	int rc = 0;

	if (look->halted || is_any_kept(look))
		return 0;
	if (!look->single)
		rc = look_at(look, look->earlier.table, &earlier, &wait_long);
	if (rc == 0 && wait_long)
		rc = look_at(look, look->last.table, &last, &wait_long);
	if (rc < 0 || !wait_long)
		return rc;
	f = ins_findings_add(ret, &ins_rule_delay, INS_SLOW);
	if (!f)
		return -ENOMEM;
	f->fibers = f->weight = last.count;
	f->subject = last.oldest;
	return 0;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber oldest;

	ins_look_get(look, f->subject, &oldest);
	ins_sample_lowest(&f->ids, oldest.row.id);
	ins_look_say_count(&line, f->fibers, "fiber can run and waits", "fibers can run and wait");
	ins_strbuf_text(&line, " for a carrier, the longest for ");
	ins_duration_say(&line, oldest.row.age);
	ins_look_place(look, &oldest, f->place, sizeof f->place);
	line = ins_finding_line(f);
	ins_strbuf_text(&line, "longest: ");
	ins_look_say_fiber(&oldest, &line);
	ins_look_say_at(f->place, &line);
	say_running(look, f);
	f->more[0] = "show";
	f->more_id[0] = oldest.row.id;
}

const struct ins_rule ins_rule_delay = {"delay", "fibers that can run wait long for a carrier",
					find, say};
