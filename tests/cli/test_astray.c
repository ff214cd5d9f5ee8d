/* SPDX-License-Identifier: MIT */
/*
 * test_astray.c - every tool reports a fiber whose stack pointer is outside its stack
 *
 * No frames are shown: that memory may belong to another fiber.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct harness_process *program;
static const char *pid;

static int begin(void **state)
{
	static char number[16];

	(void)state;
	program = cli_start(NULL, "strays wait", "astray", NULL);
	snprintf(number, sizeof number, "%d", (int)program->pid);
	pid = number;
	return 0;
}

static int end(void **state)
{
	(void)state;
	harness_end(program);
	harness_free(program);
	return 0;
}

static void says(const char *what, struct harness_process *p)
{
	cli_contains(p->out.bytes, what);
	harness_free(p);
}

static void test_astray_is_said_in_lists_and_instead_of_frames(void **state)
{
	(void)state;
	says("   outside  park ", cli_run("fiberctl", "list", pid, NULL));
	says(" is outside,", cli_run("fiberctl", "show", pid, "3", NULL));
	says(" is outside its stack", cli_run("fiberctl", "bt", pid, "3", NULL));
	says(" is outside its stack", cli_run("fibertrace", pid, NULL));
}

static void test_astray_is_a_key_of_its_stack_in_json(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", "--json", pid, NULL);
	json_t *answer, *fiber, *stack;
	size_t i, seen = 0;

	(void)state;
	answer = json_well(p);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		stack = json_object_get(fiber, "stack");
		if (strcmp(json_text(fiber, "name"), "parked")) {
			assert_null(json_object_get(stack, "pointerOutside"));
			continue;
		}
		assert_true(json_is_true(json_object_get(stack, "pointerOutside")));
		seen++;
	}
	assert_int_equal(seen, 1);
	json_decref(answer);
}

static void test_astray_is_said_by_what_watches_long_runs_and_pinned_waits(void **state)
{
	(void)state;
	says("; its stack pointer is outside its stack", cli_run("fiberctl", "slow", pid, NULL));
	says("\"pointerOutside\"", cli_run("fiberctl", "slow", "--json", pid, NULL));
	says("no frames: its stack pointer is outside its stack",
	     cli_run("fiberctl", "pinned", pid, NULL));
}

static void test_astray_is_said_by_the_program_itself(void **state)
{
	struct harness_process *p = cli_start(NULL, "strays wait", "astray", NULL);

	(void)state;
	harness_end(p);
	cli_contains(p->err.bytes, "\"parked\" waits with its stack pointer 0x");
	cli_contains(p->err.bytes, "outside its stack of 262144 bytes");
	cli_contains(p->err.bytes, ", its stack pointer is outside its stack");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_astray_is_said_in_lists_and_instead_of_frames),
		cmocka_unit_test(test_astray_is_a_key_of_its_stack_in_json),
		cmocka_unit_test(test_astray_is_said_by_what_watches_long_runs_and_pinned_waits),
		cmocka_unit_test(test_astray_is_said_by_the_program_itself),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, begin, end);
}
