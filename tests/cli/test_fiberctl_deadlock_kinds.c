/* SPDX-License-Identifier: MIT */
/* test_fiberctl_deadlock_kinds.c - waits without a cycle that never end or may never end */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/golden.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct crowd crowd;

static struct harness_process *ask(const char *option)
{
	return cli_run("fiberctl", "deadlock", cli_number((uint64_t)crowd.process->pid), option,
		       NULL);
}

/* The only finding, in JSON, with all its documented keys. */
static json_t *finding_of(bool lasting, const char *kind)
{
	struct harness_process *p = ask("--json");
	json_t *answer, *finding;

	cli_expect(p, lasting ? 3 : 0);
	answer = json_answer(p);
	json_promise_answer(answer, "control");
	assert_int_equal(json_int(answer, "found"), lasting);
	assert_int_equal(json_int(answer, "readings"), strcmp(kind, "self-lock") != 0 ? 2 : 3);
	assert_int_equal(json_array_size(json_object_get(answer, "findings")), 1);
	finding = json_incref(json_array_get(json_object_get(answer, "findings"), 0));
	json_decref(answer);
	harness_free(p);
	assert_string_equal(json_text(finding, "kind"), kind);
	assert_int_equal(json_is_true(json_object_get(finding, "deadlock")), lasting);
	return finding;
}

/*
 * Assert that the fixture, run with one option, has one finding. Its text begins with `wanted`;
 * lasting: the wait never ends. The caller releases the finding.
 */
static json_t *expect(bool lasting, const char *wanted, const char *kind)
{
	struct harness_process *p = ask(NULL);

	cli_expect(p, lasting ? 3 : 0);
	golden_text(p->out.bytes);
	if (strncmp(p->out.bytes, wanted, strlen(wanted)) != 0)
		cli_contains(p->out.bytes, wanted);
	cli_contains(p->out.bytes,
		     lasting ? "\n\n1 deadlock; unchanged in "
			     : "\n\nno deadlock, and 1 that may come to an end; unchanged in ");
	harness_free(p);
	return finding_of(lasting, kind);
}

static void start(const char *option)
{
	crowd = crowd_start(NULL, "deadlock", option, NULL);
}

static void test_a_fiber_that_wants_what_it_has_is_a_deadlock(void **state)
{
	char wanted[256];

	(void)state;
	start("--self");
	snprintf(wanted, sizeof(wanted),
		 "deadlock: fiber %" PRIu64 " \"self\" waits for what it holds itself\n"
		 "fiber %" PRIu64 " \"self\" [suspended: mutex \"again\" held by %" PRIu64 ", T]\n",
		 crowd.members[0].id, crowd.members[0].id, crowd.members[0].id);
	json_decref(expect(true, wanted, "self-lock"));
	crowd_end(&crowd);
}

/* The last member waits for the lock; its holder column has the number of the lock's holder. */
static void expect_lost(const char *option, const char *name, const char *holder, const char *state)
{
	const struct crowd_member *m;
	const json_t *lock;
	json_t *finding;
	char wanted[256];

	start(option);
	m = &crowd.members[crowd.count - 1];
	snprintf(wanted, sizeof(wanted),
		 "deadlock: mutex \"%s\"@ is held by %s %s%s, which has ended; 1 fiber waits for "
		 "it\nfiber %" PRIu64 " \"%s\" [suspended: mutex \"%s\" held by ",
		 m->object, strchr(m->holder, ':') ? "thread" : "fiber",
		 strchr(m->holder, ':') ? strchr(m->holder, ':') + 1 : m->holder, holder, m->id,
		 m->name, m->object);
	finding = expect(true, wanted, "dead-holder");
	lock = json_object_get(finding, "lock");
	json_promise(lock, "lock",
		     "kind:s object:x? objectName:s? holderId:i? holderThread:i? holderName:s? "
		     "holderState:s?");
	assert_string_equal(json_text(lock, "objectName"), name);
	assert_string_equal(json_text(lock, "holderState"), state);
	if (strchr(m->holder, ':'))
		assert_int_equal(json_int(lock, "holderThread"),
				 strtoull(strchr(m->holder, ':') + 1, NULL, 10));
	else
		assert_int_equal(json_int(lock, "holderId"), strtoull(m->holder, NULL, 10));
	json_decref(finding);
	crowd_end(&crowd);
}

static void test_a_lock_of_a_dead_fiber_is_a_deadlock(void **state)
{
	(void)state;
	expect_lost("--dead", "dead", " \"dead-holder\"", "dead");
}

static void test_a_lock_of_a_fiber_that_nothing_is_left_of_is_a_deadlock(void **state)
{
	(void)state;
	expect_lost("--gone", "gone", "", "gone");
}

static void test_a_lock_of_a_thread_that_has_ended_is_a_deadlock(void **state)
{
	(void)state;
	expect_lost("--thread-ended", "ended", "", "ended");
}

static void test_a_join_on_the_parent_that_waits_for_the_group_is_a_deadlock(void **state)
{
	const struct crowd_member *parent, *child;
	json_t *finding;
	char wanted[512];

	(void)state;
	start("--ancestor");
	parent = crowd_find(&crowd, "group", "parent");
	child = crowd_find(&crowd, "join", "child");
	snprintf(wanted, sizeof(wanted),
		 "deadlock: fiber %" PRIu64 " \"child\" joins its ancestor fiber %" PRIu64
		 " \"parent\", whose descendants all wait for it or cannot go on either\n"
		 "fiber %" PRIu64 " \"child\" [suspended: join %" PRIu64 ", T]\n"
		 "fiber %" PRIu64 " \"parent\" [suspended: group \"children\", T]\n",
		 child->id, parent->id, child->id, parent->id, parent->id);
	finding = expect(true, wanted, "join-ancestor");
	assert_int_equal(json_array_size(json_object_get(finding, "fibers")), 2);
	json_decref(finding);
	crowd_end(&crowd);
}

static void test_a_join_on_a_parent_that_may_go_on_is_only_suspect(void **state)
{
	const struct crowd_member *parent, *child;
	char wanted[256];

	(void)state;
	start("--suspect");
	parent = crowd_find(&crowd, "park", "parent");
	child = crowd_find(&crowd, "join", "child");
	snprintf(wanted, sizeof(wanted),
		 "suspect: fiber %" PRIu64 " \"child\" joins its ancestor fiber %" PRIu64
		 " \"parent\", which may go on\n",
		 child->id, parent->id);
	json_decref(expect(false, wanted, "join-ancestor"));
	crowd_end(&crowd);
}

static void test_a_cycle_with_a_deadline_ends_with_it(void **state)
{
	json_t *finding;

	(void)state;
	start("--timed");
	finding = expect(
		false,
		"timed: 2 fibers wait for each other in a cycle, until a deadline in T\nfiber ",
		"cycle");
	assert_true(json_int(finding, "leftNs") > 0);
	assert_true(json_int(finding, "leftNs") <= INT64_C(3600000000000));
	assert_true(json_int(finding, "deadlineNs") > json_int(finding, "leftNs"));
	json_decref(finding);
	crowd_end(&crowd);
}

static void test_a_lock_of_a_thread_that_is_there_names_the_thread(void **state)
{
	const struct crowd_member *m;
	json_t *finding;
	char wanted[256];

	(void)state;
	start("--thread");
	m = &crowd.members[0];
	snprintf(
		wanted, sizeof(wanted),
		"thread: mutex \"thread\"@ is held by thread %s \"deadlock\", which is no fiber; 1 "
		"fiber waits for it\nfiber %" PRIu64 " \"thread\" ",
		strchr(m->holder, ':') + 1, m->id);
	finding = expect(false, wanted, "thread-holder");
	assert_string_equal(json_text(json_object_get(finding, "lock"), "holderState"), "alive");
	assert_string_equal(json_text(json_object_get(finding, "lock"), "holderName"), "deadlock");
	json_decref(finding);
	crowd_end(&crowd);
}

static bool is_stuck(void *arg)
{
	struct harness_process *p = ask(NULL);
	const bool stuck = harness_exit_code(p) == 3;

	(void)arg;
	if (stuck) {
		golden_text(p->out.bytes);
		cli_contains(p->out.bytes, "deadlock: 2 fibers wait for each other in a cycle\n");
		cli_contains(p->out.bytes, " \"pinned-0\" [running: carrier ");
		cli_contains(p->out.bytes, ", pinned in mutex \"pin-1\" held by ");
		cli_contains(p->out.bytes, "\n1 deadlock; unchanged in 3 readings\n");
	}
	harness_free(p);
	return stuck;
}

/* No fiber can run any more. The last one may reach its wait after the fixture is ready. */
static void test_pinned_fibers_on_every_carrier_are_a_deadlock(void **state)
{
	(void)state;
	start("--pinned");
	assert_true(harness_until(is_stuck, NULL, 30));
	crowd_end(&crowd);
}

static void test_all_of_them_at_once_are_told_apart(void **state)
{
	struct harness_process *p;
	json_t *answer;

	(void)state;
	crowd = crowd_of(cli_start(NULL, "ready ", "deadlock", "--crossing", "--philosophers", "5",
				   "--timed", "--self", "--dead", "--gone", "--ancestor",
				   "--suspect", "--thread", "--thread-ended", "--others", "9",
				   NULL));
	p = ask(NULL);
	cli_expect(p, 3);
	cli_contains(p->out.bytes,
		     "\n\n7 deadlocks, and 3 that may come to an end; unchanged in 3 readings\n");
	harness_free(p);
	p = ask("--json");
	cli_expect(p, 3);
	answer = json_answer(p);
	assert_int_equal(json_int(answer, "found"), 7);
	assert_int_equal(json_array_size(json_object_get(answer, "findings")), 10);
	json_decref(answer);
	harness_free(p);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fiber_that_wants_what_it_has_is_a_deadlock),
		cmocka_unit_test(test_a_lock_of_a_dead_fiber_is_a_deadlock),
		cmocka_unit_test(test_a_lock_of_a_fiber_that_nothing_is_left_of_is_a_deadlock),
		cmocka_unit_test(test_a_lock_of_a_thread_that_has_ended_is_a_deadlock),
		cmocka_unit_test(test_a_join_on_the_parent_that_waits_for_the_group_is_a_deadlock),
		cmocka_unit_test(test_a_join_on_a_parent_that_may_go_on_is_only_suspect),
		cmocka_unit_test(test_a_cycle_with_a_deadline_ends_with_it),
		cmocka_unit_test(test_a_lock_of_a_thread_that_is_there_names_the_thread),
		cmocka_unit_test(test_pinned_fibers_on_every_carrier_are_a_deadlock),
		cmocka_unit_test(test_all_of_them_at_once_are_told_apart),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
