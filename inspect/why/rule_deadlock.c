/* SPDX-License-Identifier: MIT */
/*
 * rule_deadlock.c - fibers that will never run again (inspect/waits/deadlock.h)
 *
 * A finding that may still resolve counts when it has lasted: a lock that a thread holds, or a cycle
 * with a deadline in it, is nothing unusual for a moment.
 *
 * The rows of a snapshot of a running program are not of one moment, and there is no second reading to
 * confirm them. There a finding counts if all its waits are longer than the reading took. A lock that is
 * handed over looks for longer as if its next holder waited for itself (deadlock.h).
 */
#include "inspect/why/rules.h"

#include <errno.h>

#include <fiber/fiber.h>

#include "inspect/model/words.h"

#define SHOWN 3 /* fibers of a finding that are shown */

static void get(const struct ins_look *look, const struct ins_deadlock *d, size_t i,
		struct ins_fiber *ret)
{
	ins_look_get(look, d->fibers[i], ret);
}

static void find_ages(const struct ins_look *look, const struct ins_deadlock *d,
		      int64_t *ret_shortest, int64_t *ret_longest)
{
	const bool moment = !look->single || !ins_table_summary(look->last.table)->sampled_ns;
	struct ins_fiber fiber;
	size_t i;

	*ret_shortest = INT64_MAX;
	*ret_longest = 0;
	for (i = 0; i < d->count; i++) {
		get(look, d, i, &fiber);
		if (fiber.flags & INS_FIBER_SLEPT)
			continue;
		/* The age of a pinned fiber is that of its run: it may have begun to wait just now. */
		if (!moment && fiber.row.carrier != FIB_ROW_CARRIER_NONE)
			fiber.row.age = 0;
		if (fiber.row.age > *ret_longest)
			*ret_longest = fiber.row.age;
		if (fiber.row.age < *ret_shortest)
			*ret_shortest = fiber.row.age;
	}
}

/* Whether no fiber runs or can run. Then no lock is being handed over. */
static bool at_rest(const struct ins_look *look)
{
	size_t i, n = ins_look_count(look);
	struct ins_fiber fiber;

	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		if (!ins_look_waits(&fiber) &&
		    (fiber.row.state == FIBER_RUNNING || fiber.row.state == FIBER_RUNNABLE))
			return false;
	}
	return true;
}

/* Of a single reading: whether the finding is no artefact of it. */
static bool is_certain(const struct ins_look *look, const struct ins_deadlock *d)
{
	const int64_t took = ins_table_summary(look->last.table)->sampled_ns;
	int64_t shortest, longest;

	find_ages(look, d, &shortest, &longest);
	if (d->kind == INS_DEADLOCK_SELF)
		return longest >= INS_LOOK_LONG || (!took && at_rest(look));
	/* The clock of a core rests while its fibers sleep, but all of it is of one moment. */
	return !took || shortest - INS_AGE_MOMENT > took;
}

static bool counts(const struct ins_look *look, const struct ins_deadlock *d)
{
	int64_t shortest, longest;

	find_ages(look, d, &shortest, &longest);
	if (!d->lasting)
		return ins_look_old(look,
				    look->single && shortest != INT64_MAX ? shortest : longest, 0);
	/* The ages of threads are not known. */
	return !look->single || ins_table_summary(look->last.table)->threads || is_certain(look, d);
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
	find, say};
