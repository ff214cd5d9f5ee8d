/* SPDX-License-Identifier: MIT */
/*
 * rule_growth.c - fibers from one place that only get more
 *
 * Only readings that are INS_GROWTH_NS apart or more tell that: with --for, or an older snapshot of the
 * process (--since). A reading of a large or busy program takes as long by itself. Such a program may be
 * starting, so the time that the readings were asked to be apart counts. A place is reported if it has
 * MANY fibers, has more than before, and none of those that it had has ended.
 */
#include "inspect/why/rules.h"

#include <errno.h>

#include <stdlib.h>

#include "inspect/text/duration.h"

#define MANY 100

struct site {
	uint64_t pc;
	uint64_t before, ended, now;
	uint64_t oldest; /* id */
};

/* The fibers of both readings: `both` marks those that are in the other one too. */
struct born {
	uint64_t pc, id;
	bool last, both;
};

static int by_place(const void *a, const void *b)
{
	const struct born *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static size_t gather(struct ins_table *table, struct ins_table *other, bool last, struct born *ret)
{
	size_t i, n = ins_table_count(table);
	struct ins_fiber fiber;

	for (i = 0; i < n; i++) {
		ins_table_get(table, i, &fiber);
		if (fiber.row.id & FIB_HOLDER_THREAD)
			break;
		ret[i] = (struct born){fiber.row.spawn_pc, fiber.row.id, last,
				       ins_table_find(other, fiber.row.id) >= 0};
	}
	return i;
}

/* The site that begins at all[at]; returns where the next one begins. */
static size_t count_site(const struct born *all, size_t n, size_t at, struct site *ret)
{
	*ret = (struct site){.pc = all[at].pc, .oldest = all[at].id};
	for (; at < n && all[at].pc == ret->pc; at++) {
		ret->now += all[at].last;
		ret->before += !all[at].last;
		ret->ended += !all[at].last && !all[at].both;
	}
	return at;
}

static struct ins_table *before(const struct ins_look *look)
{
	return look->since ? look->since : look->earlier.table;
}

/* ns between the readings; 0: there is only one, or they are too close. */
static int64_t between(const struct ins_look *look)
{
	if (look->since)
		return look->since_ago;
	return look->single || look->wanted < INS_GROWTH_NS ? 0 : look->last.at - look->earlier.at;
}

/* All fibers of both readings by place, and their number. NULL: no memory. */
static struct born *gather_both(struct ins_look *look, size_t *ret_n)
{
	struct born *all = calloc(
		ins_table_count(before(look)) + ins_table_count(look->last.table) + 1, sizeof *all);

	if (!all)
		return NULL;
	*ret_n = gather(before(look), look->last.table, false, all);
	*ret_n += gather(look->last.table, before(look), true, all + *ret_n);
	qsort(all, *ret_n, sizeof *all, by_place);
	return all;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	struct born *all;
	struct ins_finding *f;
	struct site site;
	size_t n, at = 0;
	int rc = 0;

	if (between(look) < INS_GROWTH_NS)
		return 0;
	all = gather_both(look, &n);
	if (!all)
		return -ENOMEM;
	while (rc == 0 && at < n) {
		at = count_site(all, n, at, &site);
		if (site.now < MANY || site.now <= site.before || site.ended)
			continue;
		f = ins_findings_add(ret, &ins_rule_growth, INS_SLOW);
		if (f) {
			f->fibers = site.now;
			f->weight = site.now - site.before;
			f->subject = (size_t)ins_table_find(look->last.table, site.oldest);
		} else {
			rc = -ENOMEM;
		}
	}
	free(all);
	return rc;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber oldest;

	ins_look_get(look, f->subject, &oldest);
	ins_sample_lowest(&f->ids, oldest.row.id);
	ins_look_place_of(look, oldest.row.spawn_pc, true, f->place, sizeof f->place);
	ins_look_say_count(&line, f->fibers, "fiber", "fibers");
	ins_strbuf_text(&line, " from one place only get more: ");
	ins_strbuf_number(&line, f->weight);
	ins_strbuf_text(&line, " in ");
	ins_duration_say(&line, between(look));
	ins_strbuf_text(&line, ", and none has ended");
	line = ins_finding_line(f);
	ins_strbuf_text(&line, "spawned at ");
	ins_strbuf_text(&line, f->place[0] ? f->place : "an unknown place");
	ins_strbuf_text(&line, "; the oldest is ");
	ins_look_say_fiber(&oldest, &line);
	f->more[0] = "show";
	f->more_id[0] = oldest.row.id;
}

const struct ins_rule ins_rule_growth = {
	"growth", "fibers from one place that only get more (--for 2s, --since)", find, say,
	INS_NEEDS_TWO};
