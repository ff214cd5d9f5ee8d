/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_deadlock.c - cycles of every size, and all other waits that never end
 *
 * The expected output is computed from what the fixture prints. Cycles are searched among 100,000
 * other fibers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/golden.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define SHOWN 16 /* fibers of a cycle that are shown */

static struct harness_process *ask(const struct crowd *crowd, const char *option)
{
	return cli_run("fiberctl", "deadlock", cli_number((uint64_t)crowd->process->pid), option,
		       NULL);
}

static const struct crowd_member *holder_of(const struct crowd *crowd, const struct crowd_member *m)
{
	const uint64_t id = strtoull(m->holder, NULL, 10);

	for (size_t i = 0; i < crowd->count; i++)
		if (crowd->members[i].id == id)
			return &crowd->members[i];
	fail();
	return NULL;
}

/* The member with the lowest id of the nth cycle, in the fixture's order; and the size of the
 * cycle. */
static const struct crowd_member *cycle(const struct crowd *crowd, size_t n, size_t *ret_size)
{
	const struct crowd_member *m = crowd->members;

	for (;; m += *ret_size) {
		const struct crowd_member *lowest = m, *at = m;

		*ret_size = 0;
		do {
			at = holder_of(crowd, at);
			if (at->id < lowest->id)
				lowest = at;
			++*ret_size;
		} while (at != m);
		if (!n--)
			return lowest;
	}
}

/* -- text -- */

static void say_cycle(FILE *out, const struct crowd *crowd, size_t n, size_t behind)
{
	const struct crowd_member *m;
	size_t size;

	m = cycle(crowd, n, &size);
	fprintf(out, "deadlock: %zu fibers wait for each other in a cycle", size);
	if (behind)
		fprintf(out, ", and %zu fibers wait behind them", behind);
	fputc('\n', out);
	for (size_t i = 0; i < size && i < SHOWN; i++, m = holder_of(crowd, m))
		fprintf(out, "fiber %" PRIu64 " \"%s\" [suspended: %s \"%s\" held by %s, T]\n",
			m->id, m->name, m->kind, m->object, m->holder);
	if (size > SHOWN)
		fprintf(out, "... and %zu more of these %zu fibers: --json has their ids\n",
			size - SHOWN, size);
	fputc('\n', out);
}

/* The number of fibers in this kind of wait. */
static size_t count_of(const struct crowd *crowd, const char *kind)
{
	size_t n = 0;

	for (size_t i = 0; i < crowd->count; i++)
		n += !strcmp(crowd->members[i].kind, kind);
	return n;
}

static void say_end(FILE *out, const struct crowd *crowd, size_t cycles)
{
	fprintf(out, "%zu deadlock%s; unchanged in 2 readings\n", cycles, cycles == 1 ? "" : "s");
	if (count_of(crowd, "park"))
		fprintf(out, "not followed: %zu parks, %zu events\n", count_of(crowd, "park"),
			count_of(crowd, "event"));
	fprintf(out, "shown %zu of %zu fibers, sampled over T\n", crowd->count, crowd->count);
}

/* Assert the text for a process whose only findings are cycles, created smallest first. */
static void expect_text(const struct crowd *crowd, size_t cycles, size_t behind)
{
	struct harness_process *p = ask(crowd, NULL);
	char *expected;
	size_t size;
	FILE *out = open_memstream(&expected, &size);

	for (size_t i = cycles; i-- > 0;)
		say_cycle(out, crowd, i, behind);
	say_end(out, crowd, cycles);
	fclose(out);
	cli_expect(p, 3);
	assert_string_equal(p->err.bytes, "");
	cli_contains(p->out.bytes, "\n  #");
	cli_contains(p->out.bytes, " fiber_mutex_lock+0x");
	cli_contains(p->out.bytes, " member_main+0x");
	golden_expect(p->out.bytes, expected);
	free(expected);
	harness_free(p);
}

/* -- JSON -- */

/* Keys that differ in every run or build. */
#define VOLATILE                                                                                \
	"pid object ageNs switches cpuNs runnableNs waitedNs livedNs stack entry spawn frames " \
	"framesLeftOut "                                                                        \
	"truncated takenNs host sampledNs parentId pins paused switching"

static json_t *fiber_object(const struct crowd *crowd, const struct crowd_member *m)
{
	const struct crowd_member *holder = holder_of(crowd, m);

	return json_pack("{s:I, s:s, s:s, s:b, s:b, s:n, s:{}, s:{s:s, s:s, s:I, s:n, s:n, s:n, "
			 "s:n, s:n, s:n, s:[{s:s, s:I, s:n, s:s}], s:i}}",
			 "id", (json_int_t)m->id, "name", m->name, "state", "suspended",
			 "cancelled", 0, "masked", 0, "carrier", "labels", "wait", "kind", m->kind,
			 "objectName", m->object, "holderId",
			 (json_int_t)strtoull(m->holder, NULL, 10), "holderThread", "fd", "events",
			 "deadlineNs", "leftNs", "targetId", "holders", "holderName", holder->name,
			 "holderId", (json_int_t)holder->id, "holderThread", "holderState",
			 "suspended", "holdersUnknown", 0);
}

static json_t *cycle_object(const struct crowd *crowd, size_t n, size_t behind)
{
	json_t *ids = json_array(), *fibers = json_array();
	const struct crowd_member *m;
	size_t size;

	m = cycle(crowd, n, &size);
	for (size_t i = 0; i < size; i++, m = holder_of(crowd, m)) {
		json_array_append_new(ids, json_integer((json_int_t)m->id));
		if (i < SHOWN)
			json_array_append_new(fibers, fiber_object(crowd, m));
	}
	return json_pack("{s:s, s:b, s:I, s:I, s:n, s:n, s:n, s:o, s:o, s:o, s:n}", "kind", "cycle",
			 "deadlock", 1, "count", (json_int_t)size, "behind", (json_int_t)behind,
			 "deadlineNs", "leftNs", "lock", "fiberIds", ids, "threadIds", json_array(),
			 "fibers", fibers, "thread");
}

static void expect_json(const struct crowd *crowd, size_t cycles, size_t behind)
{
	/* ThreadSanitizer adds a thread of its own to each program. */
	const json_int_t tsan = strcmp(harness_sanitizer(), "thread") == 0;
	struct harness_process *p = ask(crowd, "--json");
	json_t *answer, *findings = json_array(), *unfollowed = json_object();
	const json_t *finding, *fiber;
	const bool still = !count_of(crowd, "sleep"); /* but for the main thread */
	size_t i, k;

	for (i = cycles; i-- > 0;)
		json_array_append_new(findings, cycle_object(crowd, i, behind));
	cli_expect(p, 3);
	answer = json_answer(p);
	json_promise_answer(answer, "control");
	json_array_foreach (json_object_get(answer, "findings"), i, finding) {
		json_promise(finding, "finding",
			     "kind:s deadlock:b count:i behind:i deadlineNs:i? leftNs:i? lock:o? "
			     "fiberIds:a "
			     "fibers:a thread:o?");
		json_array_foreach (json_object_get(finding, "fibers"), k, fiber)
			json_promise_fiber(fiber, true);
	}
	golden_without(answer, VOLATILE);
	if (count_of(crowd, "park")) {
		json_object_set_new(unfollowed, "park",
				    json_integer((json_int_t)count_of(crowd, "park")));
		json_object_set_new(unfollowed, "event",
				    json_integer((json_int_t)count_of(crowd, "event")));
	}
	golden_expect_json(
		answer,
		json_pack("{s:i, s:s, s:s, s:o, s:I, s:i, s:o, s:I, s:I, s:b, s:[], s:b, s:o}",
			  "schemaVersion", 1, "name", "deadlock", "source", "control", "findings",
			  findings, "found", (json_int_t)cycles, "readings", 2, "notFollowed",
			  unfollowed, "total", (json_int_t)crowd->count, "shown",
			  (json_int_t)crowd->count, "complete", 1, "problems", "allWait", still,
			  "otherThreads", still ? json_integer(1 + tsan) : json_null()));
	harness_free(p);
}

static void test_two_fibers_crossing_are_a_deadlock(void **state)
{
	struct crowd crowd = crowd_start(NULL, "deadlock", "--crossing", NULL);

	(void)state;
	assert_int_equal(crowd.count, 2);
	expect_text(&crowd, 1, 0);
	expect_json(&crowd, 1, 0);
	crowd_end(&crowd);
}

static void test_five_philosophers_are_a_deadlock(void **state)
{
	struct crowd crowd = crowd_start(NULL, "deadlock", "--philosophers", "5");

	(void)state;
	assert_int_equal(crowd.count, 5);
	expect_text(&crowd, 1, 0);
	expect_json(&crowd, 1, 0);
	crowd_end(&crowd);
}

static void test_rings_of_2_to_1000_are_found_among_100000_others(void **state)
{
	const bool slow = *harness_sanitizer();
	const char *const others = slow ? "2000" : "100000";
	struct crowd crowd = crowd_of(cli_start(NULL, "ready ", "deadlock", "--ring", "2", "--ring",
						"3", "--ring", "17", "--ring", "100", "--ring",
						"1000", "--others", others, NULL));

	(void)state;
	assert_true(crowd.count > strtoul(others, NULL, 10));
	expect_text(&crowd, 5, 0);
	expect_json(&crowd, 5, 0);
	crowd_end(&crowd);
}

static void test_those_that_wait_behind_a_cycle_are_counted(void **state)
{
	struct crowd crowd = crowd_of(
		cli_start(NULL, "ready ", "deadlock", "--crossing", "--behind", "312", NULL));

	(void)state;
	assert_int_equal(crowd.count, 314);
	expect_text(&crowd, 1, 312);
	expect_json(&crowd, 1, 312);
	crowd_end(&crowd);
}

/* Fibers that take and release the same locks continuously are sampled in any order. */
static void test_contending_fibers_are_never_a_deadlock(void **state)
{
	struct crowd crowd = crowd_start(NULL, "deadlock", "--contend", "100");

	(void)state;
	for (int i = 0; i < 30; i++) {
		struct harness_process *p = ask(&crowd, NULL);

		cli_expect(p, 0);
		cli_contains(p->out.bytes, "no deadlock");
		harness_free(p);
	}
	crowd_end(&crowd);
}

static void test_deadlock_says_in_its_help_how_it_ends(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "help", "deadlock", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "Exit status: 3 if there is a deadlock");
	harness_free(p);
	p = cli_run("fiberctl", "--help", NULL);
	cli_contains(p->out.bytes, "3 a deadlock was found");
	harness_free(p);
}

static void test_deadlock_needs_a_process_that_is_there(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "deadlock", NULL), 64, "fiberctl", "PROCESS");
	cli_expect_error(cli_run("fiberctl", "deadlock", "1", "--limit", "3", NULL), 64, "fiberctl",
			 "--limit");
	cli_expect_error(cli_run("fiberctl", "deadlock", "no-such-program", NULL), 2, "fiberctl",
			 "no-such-program");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_fibers_crossing_are_a_deadlock),
		cmocka_unit_test(test_five_philosophers_are_a_deadlock),
		cmocka_unit_test(test_rings_of_2_to_1000_are_found_among_100000_others),
		cmocka_unit_test(test_those_that_wait_behind_a_cycle_are_counted),
		cmocka_unit_test(test_contending_fibers_are_never_a_deadlock),
		cmocka_unit_test(test_deadlock_says_in_its_help_how_it_ends),
		cmocka_unit_test(test_deadlock_needs_a_process_that_is_there),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
