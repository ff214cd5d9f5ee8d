/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_deadlock_still.c - all fibers wait for objects without a holder, and nothing is left
 *
 * Each program is asked over the socket, from memory, from a snapshot and from a core.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/golden.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct crowd crowd;
static const char *pid, *wanted_text;
static char snapshot[HARNESS_PATH], core[HARNESS_PATH];
static int wanted_code;

/* With another thread in the program, which could wake a fiber, the answers differ. */
static void skip_if_a_sanitizer_has_a_thread(void)
{
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("ThreadSanitizer adds a thread of its own to each program");
}

static bool is_as_wanted(void *arg)
{
	const char *const *const tool_and_who = arg;
	struct harness_process *p =
		cli_run(tool_and_who[0], "deadlock", tool_and_who[1], "--frames", "1", NULL);
	bool ret = harness_exit_code(p) == wanted_code;

	golden_text(p->out.bytes);
	ret = ret && strstr(p->out.bytes, wanted_text);
	harness_free(p);
	return ret;
}

static void expect_of(const char *tool, const char *who)
{
	const char *const tool_and_who[] = {tool, who};
	struct harness_process *p = cli_run(tool, "deadlock", who, "--frames", "1", NULL);

	cli_expect(p, wanted_code);
	golden_text(p->out.bytes);
	cli_contains(p->out.bytes, wanted_text);
	harness_free(p);
	assert_true(is_as_wanted((void *)tool_and_who));
}

static void start(const char *option, const char *more, const char *last)
{
	crowd = crowd_of(cli_start(NULL, "ready ", "deadlock", option, more, last, NULL));
	pid = cli_number((uint64_t)crowd.process->pid);
}

/* The main thread enters the library just after the fixture is ready: wait for that, then ask all. */
static void expect(int code, const char *text)
{
	const char *const live[] = {"fiberctl", pid};

	wanted_code = code;
	wanted_text = text;
	assert_true(harness_until(is_as_wanted, (void *)live, 30));
	expect_of("fibertrace", pid);
	cli_ended(cli_run("fiberctl", "snapshot", pid, "-o", harness_file(snapshot, "still.snap"),
			  "--force", NULL),
		  0);
	expect_of("fibertrace", snapshot);
	/* A sanitizer's shadow makes a core of terabytes. */
	if (*harness_sanitizer())
		return;
	cli_core(crowd.process->pid, "still.core", core);
	expect_of("fibertrace", core);
}

static void expect_deadlock(const char *option, const char *kind)
{
	char text[512];
	json_t *answer;
	const json_t *finding;

	skip_if_a_sanitizer_has_a_thread();
	start(option, "--finish", NULL);
	snprintf(text, sizeof(text),
		 "deadlock: all 2 fibers wait, and nothing is left that could wake one: no timer, "
		 "no descriptor and no thread\n"
		 "fiber %" PRIu64 " \"consumer\" [suspended: %s \"items\", T]\n"
		 "fiber %" PRIu64 " \"producer\" [suspended: mutex \"queue\" held by %" PRIu64
		 ", T]\n\n1 deadlock",
		 crowd.members[0].id, kind, crowd.members[1].id, crowd.members[0].id);
	expect(3, text);
	answer = json_ended(cli_run("fiberctl", "deadlock", pid, "--json", NULL), 3);
	assert_int_equal(json_int(answer, "found"), 1);
	assert_int_equal(json_int(answer, "readings"), 3);
	assert_true(json_is_true(json_object_get(answer, "allWait")));
	assert_int_equal(json_int(answer, "otherThreads"), 0);
	finding = json_array_get(json_object_get(answer, "findings"), 0);
	assert_string_equal(json_text(finding, "kind"), "all-wait");
	assert_int_equal(json_array_size(json_object_get(finding, "fiberIds")), 2);
	json_decref(answer);
	crowd_end(&crowd);
}

static void test_a_mutex_and_a_semaphore_without_another_thread_are_a_deadlock(void **state)
{
	(void)state;
	expect_deadlock("--semaphore", "sem");
}

static void test_a_mutex_and_a_channel_without_another_thread_are_a_deadlock(void **state)
{
	(void)state;
	expect_deadlock("--channel", "select");
}

static void test_with_another_thread_it_is_said_and_does_not_count(void **state)
{
	json_t *answer;

	(void)state;
	skip_if_a_sanitizer_has_a_thread();
	start("--semaphore", NULL, NULL);
	expect(0, "no deadlock\nall 2 fibers wait; only 1 thread that is no fiber could wake "
		  "one\nnot followed: 1 semaphore\n");
	answer = json_well(cli_run("fiberctl", "deadlock", pid, "--json", NULL));
	assert_true(json_is_true(json_object_get(answer, "allWait")));
	assert_int_equal(json_int(answer, "otherThreads"), 1);
	json_decref(answer);
	crowd_end(&crowd);
}

static void test_a_fiber_that_sleeps_may_wake_the_others(void **state)
{
	(void)state;
	start("--semaphore", "--sleeper", "--finish");
	expect(0, "no deadlock\nnot followed: 1 semaphore\n");
	crowd_end(&crowd);
}

static void test_a_select_with_a_descriptor_may_be_woken(void **state)
{
	(void)state;
	start("--channel-or-fd", "--finish", NULL);
	expect(0, "no deadlock\nnot followed: 1 select\n");
	crowd_end(&crowd);
}

static void test_a_cycle_that_explains_all_waits_stands_alone(void **state)
{
	(void)state;
	start("--crossing", "--finish", NULL);
	expect(3, "\n1 deadlock");
	crowd_end(&crowd);
}

/* Of a hundred fibers the text shows 20. */
static void test_many_fibers_are_counted(void **state)
{
	json_t *answer;
	const json_t *finding;

	(void)state;
	skip_if_a_sanitizer_has_a_thread();
	start("--semaphores=50", "--finish", NULL);
	expect(3, "\n... and 80 more of these 100 fibers: --json has their ids\n");
	answer = json_ended(cli_run("fiberctl", "deadlock", pid, "--json", NULL), 3);
	finding = json_array_get(json_object_get(answer, "findings"), 0);
	assert_int_equal(json_array_size(json_object_get(finding, "fiberIds")), 100);
	assert_int_equal(json_array_size(json_object_get(finding, "fibers")), 20);
	json_decref(answer);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_mutex_and_a_semaphore_without_another_thread_are_a_deadlock),
		cmocka_unit_test(test_a_mutex_and_a_channel_without_another_thread_are_a_deadlock),
		cmocka_unit_test(test_with_another_thread_it_is_said_and_does_not_count),
		cmocka_unit_test(test_a_fiber_that_sleeps_may_wake_the_others),
		cmocka_unit_test(test_a_select_with_a_descriptor_may_be_woken),
		cmocka_unit_test(test_a_cycle_that_explains_all_waits_stands_alone),
		cmocka_unit_test(test_many_fibers_are_counted),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
