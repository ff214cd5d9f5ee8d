/* SPDX-License-Identifier: MIT */
/* test_nameless.c - fibers without a name are shown by their function, but not in JSON */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct harness_process *program;
static char pid[32];

static int start(void **state)
{
	(void)state;
	program = cli_start(NULL, "ready ", "nameless", NULL);
	snprintf(pid, sizeof(pid), "%d", program->pid);
	return 0;
}

static void expect(struct harness_process *p, const char *first, const char *second)
{
	cli_expect(p, 0);
	cli_contains(p->out.bytes, first);
	cli_contains(p->out.bytes, second);
	harness_free(p);
}

static void test_every_command_shows_a_fiber_without_a_name_by_its_function(void **state)
{
	static const char *const tools[] = {"fiberctl", "fibertrace"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const tool = tools[i];

		expect(cli_run(tool, "list", pid, NULL), " greet()\n", " last()\n");
		expect(cli_run(tool, "bt", pid, "--all", NULL), "fiber 1 \"greet()\" [",
		       "fiber 3 \"last()\" [");
		expect(cli_run(tool, "stacks", pid, NULL), " id 1 \"greet()\"\n",
		       " id 3 \"last()\"\n");
		expect(cli_run(tool, "show", pid, "2", NULL), "fiber 2 \"greet()\" [",
		       "which fiber 1 \"greet()\" holds");
		expect(cli_run(tool, "waits", pid, NULL), "fiber 1 \"greet()\"", "");
		expect(cli_run(tool, "tree", pid, NULL), "greet()", "last()");
		expect(cli_run(tool, "list", pid, "--where", "name=\"greet()\"", NULL),
		       "shown 2 of 3 fibers", "");
	}
}

static void test_answers_to_actions_name_the_function_too(void **state)
{
	static const char *const admin[] = {"FIBER_CONTROL=admin", NULL};
	const struct harness_how how = {.env = admin};
	struct harness_process *acted = cli_start(&how, "ready ", "nameless", NULL);
	const char *const id = cli_number((uint64_t)acted->pid);

	(void)state;
	expect(cli_run("fiberctl", "cancel", id, "1", NULL), "fiber 1 \"greet()\": cancelled", "");
	expect(cli_run("fiberctl", "audit", id, NULL), " fiber 1 \"greet()\" ", " done\n");
	harness_end(acted);
	harness_free(acted);
}

static void test_events_and_carriers_name_the_function_too(void **state)
{
	struct harness_process *hog =
		cli_start(NULL, "ready ", "hog", "--unnamed", "--sleep", "1", "--forever", NULL);
	const char *const id = cli_number((uint64_t)hog->pid);
	struct harness_process *p;

	(void)state;
	expect(cli_run("fiberctl", "slow", id, NULL), " in system call ", " \"hold()\"\n");
	p = cli_run("fiberctl", "slow", id, "--json", NULL);
	cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, "hold()"));
	harness_free(p);
	expect(cli_run("fiberctl", "carriers", id, "--once", NULL), "  hold_forever()\n", "NAME\n");
	harness_end(hog);
	cli_contains(hog->err.bytes, " (hog+0x");
	harness_free(hog);
}

static void test_place_is_the_innermost_call_of_the_program(void **state)
{
	static const char *const tools[] = {"fiberctl", "fibertrace"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness_process *p =
			cli_run(tools[i], "list", pid, "--columns", "id,place", NULL);

		expect(p, " 1 greet nameless.c:22\n", " 2 greet nameless.c:21\n");
		expect(cli_run(tools[i], "list", pid, "--where", "place=\"greet nameless.c:21\"",
			       NULL),
		       "shown 1 of 3 fibers", "");
		expect(cli_run(tools[i], "show", pid, "2", NULL),
		       "\nat           greet at fixtures/nameless.c:21\n", "");
	}
}

static void test_json_has_the_name_that_the_program_gave(void **state)
{
	json_t *answer = json_well(cli_run("fiberctl", "list", pid, "--json", NULL)), *fiber;
	size_t i;

	(void)state;
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		assert_string_equal(json_text(fiber, "name"), "");
		assert_string_equal(json_text(fiber, "entry"), i < 2 ? "greet" : "last");
	}
	assert_int_equal(i, 3);
	json_decref(answer);
}

/* Of last() there is no frame: the call is shown all the same, and the entry is not. */
static void test_a_first_function_that_left_no_frame_leaves_its_call(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "bt", pid, "3", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, " fiber_sleep+0x");
	assert_null(strstr(p->out.bytes, "fib_"));
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_to_actions_name_the_function_too),
		cmocka_unit_test(test_events_and_carriers_name_the_function_too),
		cmocka_unit_test(test_every_command_shows_a_fiber_without_a_name_by_its_function),
		cmocka_unit_test(test_place_is_the_innermost_call_of_the_program),
		cmocka_unit_test(test_json_has_the_name_that_the_program_gave),
		cmocka_unit_test(test_a_first_function_that_left_no_frame_leaves_its_call),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, NULL);
}
