/* SPDX-License-Identifier: MIT */
/*
 * rule_deadlock.c - fibers that will never run again (inspect/waits/deadlock.h)
 *
 * A finding that may still resolve counts when it has lasted: a lock that a thread holds, or a cycle
 * with a deadline in it, is nothing unusual for a moment.
 *
 * A single reading, as of a core or a snapshot, must prove the finding (inspect/waits/one_moment.h).
 */
#include "inspect/why/rules.h"

#include <errno.h>

#include <fiber/fiber.h>

#include "inspect/model/words.h"
#include "inspect/waits/one_moment.h"

#define SHOWN 3 /* fibers of a finding that are shown */

static void get(const struct ins_look *look, const struct ins_deadlock *d, size_t i,
		struct ins_fiber *ret)
{
	ins_look_get(look, d->fibers[i], ret);
}

static bool counts(const struct ins_look *look, const struct ins_deadlock *d)
{
	const struct ins_graph *graph = ins_deadlocks_graph(look->last.found);
	int64_t shortest, longest;

	ins_one_moment_ages(graph, d, look->single, &shortest, &longest);
	if (!d->lasting)
		return ins_look_old(look,
				    look->single && shortest != INT64_MAX ? shortest : longest, 0);
	/* The ages of threads are not known. */
	return !look->single || ins_table_summary(look->last.table)->threads ||
	       ins_one_moment(graph, d);
}

/* fiber 5; thread 812 */
static void say_holder(const struct ins_deadlock *d, struct ins_strbuf *line)
{
	if (d->holder & FIB_HOLDER_THREAD) {
		ins_strbuf_text(line, "thread ");
		ins_strbuf_number(line, d->holder & ~FIB_HOLDER_THREAD);
	} else {
		ins_strbuf_text(line, "fiber ");
		ins_strbuf_number(line, d->holder);
	}
}

/* 3 fibers; 1 fiber and 2 threads */
static void say_members(const struct ins_look *look, const struct ins_deadlock *d,
			struct ins_strbuf *line)
{
	const size_t threads = ins_deadlocks_threads(look->last.found, d);

	if (d->count > threads)
		ins_look_say_count(line, d->count - threads, "fiber", "fibers");
	if (threads && d->count > threads)
		ins_strbuf_text(line, " and ");
	if (threads)
		ins_look_say_count(line, threads, "thread", "threads");
}

static void say_headline(const struct ins_look *look, const struct ins_deadlock *d,
			 struct ins_strbuf *line)
{
	const char *noun = ins_words_rows(ins_table_summary(look->last.table));
	struct ins_fiber fiber;

	get(look, d, 0, &fiber);
	switch (d->kind) {
	case INS_DEADLOCK_CYCLE:
		say_members(look, d, line);
		ins_strbuf_text(line, " wait for each other");
		break;
	case INS_DEADLOCK_SELF:
		ins_look_say_fiber(&fiber, line);
		ins_strbuf_text(line, " waits for ");
		ins_look_say_object(look, &fiber, line);
		ins_strbuf_text(line, ", which it holds itself");
		break;
	case INS_DEADLOCK_ANCESTOR:
		ins_look_say_fiber(&fiber, line);
		ins_strbuf_text(line, " joins an ancestor");
		ins_strbuf_text(line,
				d->lasting ? " that waits for it" : ", which may wait for it");
		break;
	case INS_DEADLOCK_ORPHAN:
	case INS_DEADLOCK_THREAD:
		ins_strbuf_number(line, d->count);
		ins_strbuf_char(line, ' ');
		ins_strbuf_text(line, noun);
		ins_strbuf_text(line, d->count == 1 ? " waits for " : "s wait for ");
		ins_look_say_object(look, &fiber, line);
		ins_strbuf_text(line, d->kind == INS_DEADLOCK_THREAD ? ", held by "
								     : ", locked for ever by ");
		say_holder(d, line);
		if (d->kind == INS_DEADLOCK_ORPHAN)
			ins_strbuf_text(line, ", which has ended");
		break;
	case INS_DEADLOCK_STILL:
		if (d->count > 1)
			ins_strbuf_text(line, "all ");
		if (d->count > 1)
			ins_strbuf_number(line, d->count);
		ins_strbuf_text(line, d->count > 1 ? " fibers wait" : "the only fiber waits");
		ins_strbuf_text(line, ", and nothing is left that could wake one");
		break;
	}
	if (d->behind) {
		ins_strbuf_text(line, ", and ");
		ins_look_say_count(line, d->behind, "waits behind", "wait behind");
	}
	if (!d->lasting && d->deadline != INT64_MAX)
		ins_strbuf_text(line, ", until a deadline");
}

/* fiber 3 "a" has waited for mutex "x" held by 4 for 41s at store.c:21 in get */
static void show_fibers(struct ins_look *look, const struct ins_deadlock *d, struct ins_finding *f)
{
	struct ins_fiber fiber;
	char place[256];
	size_t i;

	for (i = 0; i < d->count; i++) {
		get(look, d, i, &fiber);
		ins_sample_lowest(&f->ids, fiber.row.id);
	}
	for (i = 0; i < d->count && i < SHOWN; i++) {
		struct ins_strbuf line = ins_finding_line(f);

		get(look, d, i, &fiber);
		ins_look_place(look, &fiber, place, sizeof place);
		ins_look_say_fiber(&fiber, &line);
		ins_strbuf_char(&line, ' ');
		ins_look_say_doing(look, &fiber, &line);
		ins_look_say_at(place, &line);
		if (i == 0 && place[0]) {
			struct ins_strbuf at = ins_strbuf(f->place, sizeof f->place);

			ins_strbuf_text(&at, place);
		}
	}
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	const struct ins_deadlocks *found = look->last.found;
	size_t i;

	for (i = 0; i < ins_deadlocks_count(found); i++) {
		const struct ins_deadlock *d = ins_deadlocks_at(found, i);
		struct ins_finding *f;

		if (!counts(look, d))
			continue;
		f = ins_findings_add(ret, &ins_rule_deadlock, d->lasting ? INS_LASTS : INS_SLOW);
		if (!f)
			return -ENOMEM;
		f->fibers = d->count;
		f->weight = d->count + d->behind;
		f->subject = i;
	}
	return 0;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	const struct ins_deadlock *d = ins_deadlocks_at(look->last.found, f->subject);
	struct ins_strbuf line = ins_finding_headline(f);

	say_headline(look, d, &line);
	show_fibers(look, d, f);
	f->more[0] = "deadlock";
}

const struct ins_rule ins_rule_deadlock = {
	"deadlock", "fibers that wait for each other, or for a lock that will never be released",
	find, say, INS_NEEDS_ONE};
