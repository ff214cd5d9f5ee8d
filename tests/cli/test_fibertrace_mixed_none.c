/* SPDX-License-Identifier: MIT */
/* test_fibertrace_mixed_none.c - fibers and threads that go on, or may, are no deadlock */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/mixed.h"
#include "tests/harness/watchdog.h"

static void is_no_deadlock(const struct crowd *crowd, const char *target, size_t carriers)
{
	json_t *answer = mixed_answer("deadlock", target, 0);

	(void)crowd;
	(void)carriers;
	assert_int_equal(json_int(answer, "found"), 0);
	json_decref(answer);
}

static void expect_none(const char *line)
{
	struct crowd crowd = mixed_start(line);

	mixed_look_everywhere(&crowd, 0, is_no_deadlock);
}

/* Which fiber took it is not known: the thread runs another one, or none. */
static void test_a_mutex_of_the_system_that_a_parked_fiber_took_is_no_known_deadlock(void **state)
{
	(void)state;
	expect_none("fp tm");
}

static void test_a_chain_that_ends_at_a_sleeping_thread_is_no_deadlock(void **state)
{
	(void)state;
	expect_none("--open fm tm");
	expect_none("--open tp fm tm");
}

static void test_a_cycle_with_a_deadline_of_a_thread_is_no_deadlock(void **state)
{
	struct crowd crowd = mixed_start("--timed fm tm");
	json_t *answer = mixed_answer("deadlock", mixed_pid(&crowd), 0);
	const json_t *finding = json_array_get(json_object_get(answer, "findings"), 0);

	(void)state;
	assert_string_equal(json_text(finding, "kind"), "cycle");
	assert_true(json_is_false(json_object_get(finding, "deadlock")));
	mixed_all_in(&crowd, finding, 0);
	json_decref(answer);
	crowd_end(&crowd);
}

static void finds_none(const char *tool, const char *command, const char *target)
{
	struct harness_process *p = cli_run(tool, command, target, NULL);

	if (harness_exit_code(p) == 3)
		fail_msg("%s", p->out.bytes);
	harness_free(p);
}

static void test_busy_fibers_and_threads_are_never_a_deadlock(void **state)
{
	static const char *const parties[] = {"fm tm fr tr", "pm tm pr tp", "fm tp fR tR"};
	char line[64], snapshot[HARNESS_PATH];

	(void)state;
	for (size_t i = 0; i < sizeof(parties) / sizeof(parties[0]); i++) {
		struct crowd crowd;

		snprintf(line, sizeof(line), "--busy %s", parties[i]);
		crowd = mixed_start(line);
		for (unsigned k = 0; k < 4; k++) {
			finds_none("fibertrace", "deadlock", mixed_pid(&crowd));
			finds_none("fiberctl", "why", mixed_snapshot(&crowd, snapshot));
		}
		crowd_end(&crowd);
	}
}

/* In a core a thread that was woken still stands in the call in which it waited. */
static void test_cores_of_busy_fibers_and_threads_have_no_deadlock(void **state)
{
	static const char *const parties[] = {"tm tm tm", "pm pm pm", "fm tm pr tr"};
	char line[64], core[HARNESS_PATH];

	(void)state;
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	for (size_t i = 0; i < sizeof(parties) / sizeof(parties[0]); i++) {
		struct crowd crowd;

		snprintf(line, sizeof(line), "--busy %s", parties[i]);
		crowd = mixed_start(line);
		for (unsigned k = 0; k < 3; k++) {
			cli_core(crowd.process->pid, "core", core);
			finds_none("fibertrace", "deadlock", core);
			finds_none("fibertrace", "why", core);
		}
		crowd_end(&crowd);
	}
}

/* A third fiber may have taken the mutex on the carrier, and may release it on another one. */
static void test_a_mutex_that_another_fiber_may_release_is_no_known_deadlock(void **state)
{
	struct crowd crowd = mixed_start("--aside pp tm");
	json_t *answer = mixed_answer("deadlock", mixed_pid(&crowd), 0);
	const json_t *finding = json_array_get(json_object_get(answer, "findings"), 0);

	(void)state;
	assert_string_equal(json_text(finding, "kind"), "cycle");
	assert_true(json_is_false(json_object_get(finding, "deadlock")));
	json_decref(answer);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_mutex_of_the_system_that_a_parked_fiber_took_is_no_known_deadlock),
		cmocka_unit_test(test_a_chain_that_ends_at_a_sleeping_thread_is_no_deadlock),
		cmocka_unit_test(test_a_cycle_with_a_deadline_of_a_thread_is_no_deadlock),
		cmocka_unit_test(test_busy_fibers_and_threads_are_never_a_deadlock),
		cmocka_unit_test(test_cores_of_busy_fibers_and_threads_have_no_deadlock),
		cmocka_unit_test(test_a_mutex_that_another_fiber_may_release_is_no_known_deadlock),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
