/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_cancelled.c - cancelled fibers that go on, and masked ones, are marked in every
 * view
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static char deaf[24], masked[24], file[HARNESS_PATH], core[HARNESS_PATH];

/* A fiber that blocks in a system call never notices its cancellation. */
static int start(void **state)
{
	static const char *const admin[] = {"FIBER_CONTROL=admin", NULL};
	const struct harness_how how = {.env = admin};
	struct harness_process *p;

	(void)state;
	one_crowd_of(crowd_start(&how, "crowd", "66", "--stuck"));
	snprintf(deaf, sizeof(deaf), "%llu",
		 (unsigned long long)crowd_find(&crowd, "running", "")->id);
	snprintf(masked, sizeof(masked), "%llu",
		 (unsigned long long)crowd_find(&crowd, "running", "running-1")->id);
	p = cli_run("fiberctl", "cancel", pid, deaf, NULL);
	cli_ended(p, 0);
	p = cli_run("fiberctl", "snapshot", pid, "-o", harness_file(file, "a.snap"), NULL);
	assert_in_range(harness_exit_code(p), 0, 1);
	harness_free(p);
	if (!*harness_sanitizer())
		cli_core(crowd.process->pid, "core", core);
	return 0;
}

static json_t *ask(const char *tool, const char *command, const char *process, const char *word,
		   const char *other)
{
	struct harness_process *p = cli_run(tool, command, process, "--json", word, other, NULL);
	json_t *answer;

	assert_in_range(harness_exit_code(p), 0, 1);
	answer = json_answer(p);
	harness_free(p);
	return answer;
}

/* Assert that list, --where and show mark exactly this fiber as cancelled. */
static void expect_told(const char *tool, const char *process)
{
	const uint64_t id = strtoull(deaf, NULL, 10);
	json_t *answer = ask(tool, "list", process, NULL, NULL), *fiber;
	struct harness_process *p;
	size_t i;

	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), crowd.count);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		assert_int_equal(json_is_true(json_object_get(fiber, "cancelled")),
				 json_int(fiber, "id") == (json_int_t)id);
	json_decref(answer);
	answer = ask(tool, "list", process, "--where", "cancelled");
	assert_int_equal(json_int(answer, "matched"), 1);
	assert_non_null(json_fiber(answer, id));
	json_decref(answer);
	answer = ask(tool, "list", process, "--where", "not cancelled");
	assert_int_equal(json_int(answer, "matched"), crowd.count - 1);
	json_decref(answer);
	answer = ask(tool, "show", process, deaf, NULL);
	fiber = json_fiber(answer, id);
	assert_true(json_is_true(json_object_get(fiber, "cancelled")));
	cli_contains(json_text(fiber, "why"), "It was asked to end (cancelled), and has run on ");
	json_decref(answer);
	p = cli_run(tool, "show", process, deaf, NULL);
	assert_in_range(harness_exit_code(p), 0, 1);
	cli_contains(p->out.bytes, "\nIt was asked to end (cancelled), and has run on ");
	harness_free(p);
}

static void expect_masked(const char *tool, const char *process)
{
	const uint64_t id = strtoull(masked, NULL, 10);
	json_t *answer = ask(tool, "list", process, NULL, NULL), *fiber;
	size_t i;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		assert_int_equal(json_is_true(json_object_get(fiber, "masked")),
				 json_int(fiber, "id") == (json_int_t)id);
	json_decref(answer);
	answer = ask(tool, "list", process, "--where", "masked");
	assert_int_equal(json_int(answer, "matched"), 1);
	assert_non_null(json_fiber(answer, id));
	json_decref(answer);
	answer = ask(tool, "show", process, masked, NULL);
	assert_true(json_is_true(json_object_get(json_fiber(answer, id), "masked")));
	json_decref(answer);
}

static void test_a_process_tells_who_was_cancelled(void **state)
{
	(void)state;
	expect_told("fiberctl", pid);
	expect_masked("fiberctl", pid);
}

static void test_it_is_seen_from_outside(void **state)
{
	(void)state;
	expect_told("fibertrace", pid);
	expect_masked("fibertrace", pid);
}

static void test_it_is_in_a_snapshot(void **state)
{
	(void)state;
	expect_told("fiberctl", file);
	expect_masked("fiberctl", file);
}

static void test_it_is_in_a_core(void **state)
{
	(void)state;
	if (!*core)
		cli_skip("no cores of sanitizer builds");
	expect_told("fibertrace", core);
	expect_masked("fibertrace", core);
}

static void test_no_other_word_is_compared_with_it(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, "--where", "cancelled=yes",
					    "--columns", "id,cancelled", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, deaf);
	cli_contains(p->out.bytes, " yes\n");
	harness_free(p);
	p = cli_run("fiberctl", "list", pid, "--where", "cancelled=no", NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "no fiber has 'no'; there are: yes");
	harness_free(p);
}

/* show says why the fiber's waits go on. Last test: a cancellation is permanent. */
static void test_one_that_masks_and_is_cancelled_is_both(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "cancel", pid, masked, NULL);

	(void)state;
	cli_ended(p, 0);
	p = cli_run("fiberctl", "list", pid, "--where", "cancelled and masked", "--columns",
		    "id,masked,cancelled", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, masked);
	harness_free(p);
	p = cli_run("fiberctl", "show", pid, masked, NULL);
	assert_in_range(harness_exit_code(p), 0, 1);
	cli_contains(p->out.bytes, "\nIt was asked to end (cancelled, but masked), and ");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process_tells_who_was_cancelled),
		cmocka_unit_test(test_it_is_seen_from_outside),
		cmocka_unit_test(test_it_is_in_a_snapshot),
		cmocka_unit_test(test_it_is_in_a_core),
		cmocka_unit_test(test_no_other_word_is_compared_with_it),
		cmocka_unit_test(test_one_that_masks_and_is_cancelled_is_both),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
