/* SPDX-License-Identifier: MIT */
/* test_fiberctl_waits.c - who waits for whom, as text and as JSON */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/golden.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_tangle.h"
#include "tests/harness/watchdog.h"

static struct harness_process *ask(const char *a, const char *b, const char *c)
{
	return cli_run("fiberctl", "waits", pid, a, b, c, NULL);
}

static const struct crowd_member *named(const char *kind, const char *name)
{
	return crowd_find(&crowd, kind, name);
}

/* The next member of the same kind after m. */
static const struct crowd_member *after(const struct crowd_member *m)
{
	const char *const kind = m->kind;

	do
		m++;
	while (strcmp(m->kind, kind) != 0);
	return m;
}

/*
 * Write the lines for two fibers that wait for each other, and for twelve that wait for the lock of
 * the first.
 */
static void say_crossing(FILE *out)
{
	const struct crowd_member *a = named("mutex", "crossing-0");
	const struct crowd_member *b = named("mutex", "crossing-1");
	const struct crowd_member *m = named("mutex", "behind");

	fprintf(out,
		"13 fibers wait for fiber %" PRIu64 " \"crossing-0\" [suspended: mutex \"lock-1\" "
		"held by %" PRIu64 ", T]\n"
		"         at deadlock_kinds.h:N in lock\n"
		"         which is in a cycle\n"
		"      13 for mutex \"lock-0\"@, T: %" PRIu64,
		a->id, b->id, b->id);
	for (int i = 0; i < 7; i++, m++)
		fprintf(out, ", %" PRIu64, m->id);
	fprintf(out,
		" and 5 more\n"
		"1 fiber waits, and 12 behind it, for fiber %" PRIu64
		" \"crossing-1\" [suspended: mutex \"lock-0\" held by %" PRIu64 ", T]\n"
		"         at deadlock_kinds.h:N in lock\n"
		"         which is in a cycle\n"
		"       1 for mutex \"lock-1\"@, T: %" PRIu64 "\n",
		b->id, a->id, a->id);
}

static void say_others(FILE *out)
{
	const struct crowd_member *thread = named("mutex", "thread");
	const struct crowd_member *gone = named("mutex", "gone-waiter");
	const struct crowd_member *parent = named("group", "parent");
	const struct crowd_member *event = named("event", "other");

	fprintf(out,
		"3 fibers wait, and 1 behind them, for objects with no known holder\n"
		"       2 for event \"never\"@, T: %" PRIu64 ", %" PRIu64 "\n"
		"       1 for group \"children\"@, T: %" PRIu64 "\n",
		event->id, after(event)->id, parent->id);
	fprintf(out,
		"1 fiber waits for fiber %s, which has ended\n"
		"       1 for mutex \"gone\"@, T: %" PRIu64 "\n",
		gone->holder, gone->id);
	fprintf(out,
		"1 fiber waits for fiber %" PRIu64
		" \"parent\" [suspended: group \"children\", T]\n"
		"         at deadlock_kinds.h:N in parent_main\n"
		"       1 to join it, T: %" PRIu64 "\n",
		parent->id, named("join", "child")->id);
	fprintf(out,
		"1 fiber waits for thread %s \"deadlock\"\n"
		"       1 for mutex \"thread\"@, T: %" PRIu64 "\n",
		strchr(thread->holder, ':') + 1, thread->id);
}

/* Shorten "T to T", printed if the waiters did not start in the same millisecond. */
static void one_time(char *text)
{
	for (char *at; (at = strstr(text, "T to T"));)
		memmove(at + 1, at + 6, strlen(at + 6) + 1);
}

/* Replace the number in each "at FILE:52 in". */
static void no_lines(char *text)
{
	for (char *at = text; (at = strstr(at, "\n         at "));) {
		at = strchr(at + 1, ':') + 1;
		memmove(at + 1, at + strspn(at, "0123456789"),
			strlen(at + strspn(at, "0123456789")) + 1);
		*at = 'N';
	}
}

/* Assert the output of the process; free both arguments. */
static void expect_text(struct harness_process *p, char *expected)
{
	cli_expect(p, 0);
	golden_text(p->out.bytes);
	one_time(p->out.bytes);
	no_lines(p->out.bytes);
	golden_expect(p->out.bytes, expected);
	free(expected);
	harness_free(p);
}

static void test_waits_text_is_holders_with_what_they_hold_and_who_waits(void **state)
{
	struct harness_process *p = ask(NULL, NULL, NULL);
	char *expected;
	size_t size;
	FILE *out = open_memstream(&expected, &size);

	(void)state;
	say_crossing(out);
	say_others(out);
	fprintf(out, "shown 6 of 6 holders; 20 of 24 fibers wait for others\n"
		     "shown 24 of 24 fibers, sampled over T\n");
	fclose(out);
	expect_text(p, expected);
}

static void test_waits_limit_says_what_it_leaves_out(void **state)
{
	struct harness_process *p = ask("--limit", "1", NULL);
	char *expected;
	size_t size;
	FILE *out = open_memstream(&expected, &size);
	char *end;

	(void)state;
	say_crossing(out);
	fclose(out);
	/* Replace the text from the second holder's line on. */
	end = strstr(expected, "\n1 fiber waits, and ") + 1;
	snprintf(end, (size_t)(expected + size - end),
		 "shown 1 of 6 holders (--limit shows more); 20 of 24 fibers wait for others\n"
		 "shown 24 of 24 fibers, sampled over T\n");
	expect_text(p, expected);

	p = ask("--limit", "2", "--json");
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\"holdersTotal\":6");
	cli_contains(p->out.bytes, "\"holdersShown\":2");
	harness_free(p);
}

static void test_waits_where_shows_the_waits_of_those_and_of_how_many(void **state)
{
	const struct crowd_member *m = named("mutex", "behind"), *b = named("mutex", "crossing-1");
	struct harness_process *p = ask("--where", "name=behind and fn~member_", NULL);
	char *expected;
	size_t size;
	FILE *out = open_memstream(&expected, &size);
	json_t *answer;

	(void)state;
	fprintf(out,
		"12 fibers wait for fiber %" PRIu64 " \"crossing-0\" [suspended: mutex \"lock-1\" "
		"held by %" PRIu64 ", T]\n"
		"         at deadlock_kinds.h:N in lock\n"
		"         which is in a cycle\n"
		"      12 for mutex \"lock-0\"@, T: %" PRIu64,
		named("mutex", "crossing-0")->id, b->id, m->id);
	for (int i = 0; i < 7; i++)
		fprintf(out, ", %" PRIu64, (++m)->id);
	fprintf(out, " and 4 more\n"
		     "shown 1 of 1 holder; shown 12 of 20 fibers that wait for others\n"
		     "shown 12 of 24 fibers, sampled over T\n");
	fclose(out);
	expect_text(p, expected);

	answer = json_well(ask("--json", "--where", "wait=event"));
	assert_int_equal(json_int(answer, "waiting"), 2);
	assert_int_equal(json_int(answer, "waitingTotal"), 20);
	assert_int_equal(json_int(answer, "holdersTotal"), 1);
	assert_int_equal(json_int(answer, "shown"), 2);
	assert_int_equal(json_int(answer, "total"), 24);
	json_decref(answer);

	p = ask("--dot", "--where", "wait=join");
	cli_expect(p, 0);
	cli_contains(p->out.bytes, " -> ");
	assert_null(strstr(strstr(p->out.bytes, " -> ") + 1, " -> "));
	harness_free(p);
	p = ask("--where", "id=99999", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "shown 0 of 0 holders; shown 0 of 20 fibers that wait");
	harness_free(p);
}

/* -- JSON -- */

/* holders: as in the output; NULL: none. */
static json_t *object_row(const char *kind, const char *name, json_t *ids, json_t *holders)
{
	return json_pack("{s:s, s:s?, s:I, s:o, s:o, s:o, s:i}", "kind", kind, "objectName", name,
			 "count", (json_int_t)json_array_size(ids), "fiberIds", ids, "threadIds",
			 json_array(), "holders", holders ? holders : json_array(),
			 "holdersUnknown", 0);
}

static json_t *one_holder(uint64_t id, const char *name, const char *holder_state)
{
	return json_pack("[{s:I, s:n, s:s?, s:s}]", "holderId", (json_int_t)id, "holderThread",
			 "holderName", name, "holderState", holder_state);
}

static json_t *ids_of(const struct crowd_member *m, size_t count)
{
	json_t *ids = json_array();

	for (; count--; m++)
		json_array_append_new(ids, json_integer((json_int_t)m->id));
	return ids;
}

/* A holder that is a fiber or unknown (id 0), with one object. */
static json_t *holder_row(uint64_t id, const char *name, const char *holder_state, size_t waiting,
			  size_t behind, bool cycle, json_t *objects)
{
	return json_pack("{s:o, s:n, s:s?, s:s?, s:I, s:I, s:b, s:o}", "holderId",
			 id ? json_integer((json_int_t)id) : json_null(), "holderThread",
			 "holderName", name, "holderState", holder_state, "waiting",
			 (json_int_t)waiting, "behind", (json_int_t)behind, "cycle", cycle,
			 "objects", objects);
}

static json_t *expected_holders(void)
{
	const struct crowd_member *a = named("mutex", "crossing-0"), *b = a + 1;
	const struct crowd_member *thread = named("mutex", "thread");
	const struct crowd_member *gone = named("mutex", "gone-waiter");
	const struct crowd_member *parent = named("group", "parent");
	const struct crowd_member *event = named("event", "other");
	json_t *events = ids_of(event, 1);

	json_array_append_new(events, json_integer((json_int_t)after(event)->id));
	return json_pack(
		"[o, o, o, o, o, {s:n, s:I, s:s, s:s, s:i, s:i, s:b, s:[o]}]",
		holder_row(a->id, a->name, "suspended", 13, 0, true,
			   json_pack("[o]", object_row("mutex", "lock-0", ids_of(b, 13),
						       one_holder(a->id, a->name, "suspended")))),
		holder_row(b->id, b->name, "suspended", 1, 12, true,
			   json_pack("[o]", object_row("mutex", "lock-1", ids_of(a, 1),
						       one_holder(b->id, b->name, "suspended")))),
		holder_row(0, NULL, NULL, 3, 1, false,
			   json_pack("[o, o]", object_row("event", "never", events, NULL),
				     object_row("group", "children", ids_of(parent, 1), NULL))),
		holder_row(strtoull(gone->holder, NULL, 10), NULL, "gone", 1, 0, false,
			   json_pack("[o]", object_row("mutex", "gone", ids_of(gone, 1),
						       one_holder(strtoull(gone->holder, NULL, 10),
								  NULL, "gone")))),
		holder_row(parent->id, "parent", "suspended", 1, 0, false,
			   json_pack("[o]",
				     object_row("join", NULL, ids_of(named("join", "child"), 1),
						one_holder(parent->id, "parent", "suspended")))),
		"holderId", "holderThread",
		(json_int_t)strtoull(strchr(thread->holder, ':') + 1, NULL, 10), "holderName",
		"deadlock", "holderState", "alive", "waiting", 1, "behind", 0, "cycle", 0,
		"objects",
		object_row(
			"mutex", "thread", ids_of(thread, 1),
			json_pack("[{s:n, s:I, s:s, s:s}]", "holderId", "holderThread",
				  (json_int_t)strtoull(strchr(thread->holder, ':') + 1, NULL, 10),
				  "holderName", "deadlock", "holderState", "alive")));
}

static void test_waits_json_is_what_the_fixture_says(void **state)
{
	struct harness_process *p = ask("--json", NULL, NULL);
	const json_t *holder, *object;
	json_t *answer;
	size_t i, k;

	(void)state;
	answer = json_well(p);
	json_promise_answer(answer, "control");
	json_array_foreach (json_object_get(answer, "holders"), i, holder) {
		json_promise(holder, "holder",
			     "holderId:i? holderThread:i? holderName:s? holderState:s? waiting:i "
			     "behind:i cycle:b objects:a");
		json_array_foreach (json_object_get(holder, "objects"), k, object) {
			json_promise(object, "object",
				     "kind:s object:x? objectName:s? count:i ageNs:o fiberIds:a "
				     "holders:a holdersUnknown:i");
			json_promise(json_object_get(object, "ageNs"), "ageNs", "min:i max:i");
		}
	}
	golden_without(answer, "pid object ageNs sampledNs takenNs host");
	golden_expect_json(
		answer,
		json_pack("{s:i, s:s, s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:[]}",
			  "schemaVersion", 1, "name", "deadlock", "source", "control", "holders",
			  expected_holders(), "waiting", 20, "waitingTotal", 20, "holdersTotal", 6,
			  "holdersShown", 6, "total", 24, "shown", 24, "complete", 1, "problems"));
}

static void test_waits_refuses_what_makes_no_sense(void **state)
{
	(void)state;
	cli_expect_error(ask("--dot", "--json", NULL), 64, "fiberctl",
			 "--dot cannot be combined with --json");
	cli_expect_error(ask("--limit", "-1", NULL), 64, "fiberctl", "--limit -1");
	cli_expect_error(ask("--where", "x", NULL), 64, "fiberctl", "--where");
	cli_expect_error(cli_run("fiberctl", "waits", NULL), 64, "fiberctl", "PROCESS");
	cli_expect_error(cli_run("fiberctl", "waits", "no-such-program", NULL), 2, "fiberctl",
			 "no-such-program");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_text_is_holders_with_what_they_hold_and_who_waits),
		cmocka_unit_test(test_waits_limit_says_what_it_leaves_out),
		cmocka_unit_test(test_waits_where_shows_the_waits_of_those_and_of_how_many),
		cmocka_unit_test(test_waits_json_is_what_the_fixture_says),
		cmocka_unit_test(test_waits_refuses_what_makes_no_sense),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, one_tangle, one_crowd_end);
}
