/* SPDX-License-Identifier: MIT */
/* test_runtimes.c - the tools show the fibers of all runtimes and change all their policies */
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct harness_process *process;
static const char *pid;

static int start(void **state)
{
	(void)state;
	process = cli_start(NULL, "ready", "runtimes", NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	harness_free(process);
	return 0;
}

static void shows_both(struct harness_process *p, const char *source)
{
	json_t *answer;
	size_t i, one = 0, other = 0;

	answer = json_well(p);
	json_promise_answer(answer, source);
	assert_string_equal(json_text(answer, "name"), "one");
	assert_int_equal(json_integer_value(json_object_get(answer, "total")), 8);
	for (i = 0; i < json_array_size(json_object_get(answer, "fibers")); i++) {
		const json_t *const fiber = json_array_get(json_object_get(answer, "fibers"), i);

		one += !strcmp(json_text(fiber, "name"), "one");
		other += !strcmp(json_text(fiber, "name"), "other");
	}
	assert_int_equal(one, 3);
	assert_int_equal(other, 5);
	json_decref(answer);
}

static void test_runtimes_are_listed_together(void **state)
{
	(void)state;
	pid = cli_number((uint64_t)process->pid);
	shows_both(cli_run("fiberctl", "list", pid, "--json", NULL), "control");
	shows_both(cli_run("fibertrace", pid, "--json", "--each", NULL), "live");
}

static void policy_is(struct harness_process *p, const char *what, const char *previous)
{
	json_t *answer;
	const json_t *policy;

	answer = json_well(p);
	policy = json_object_get(answer, "policy");
	assert_string_equal(json_text(policy, "pinnedBlocking"), what);
	if (previous)
		assert_string_equal(json_text(policy, "previous"), previous);
	json_decref(answer);
}

/* The shown policy is that of the runtime started last; a change applies to all. */
static void test_runtimes_get_a_new_policy_together(void **state)
{
	(void)state;
	pid = cli_number((uint64_t)process->pid);
	policy_is(cli_run("fiberctl", "policy", pid, "--json", NULL), "silent", NULL);
	policy_is(cli_run("fiberctl", "policy", pid, "warn", "--json", NULL), "warn", "silent");
	policy_is(cli_run("fiberctl", "policy", pid, "--json", NULL), "warn", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtimes_are_listed_together),
		cmocka_unit_test(test_runtimes_get_a_new_policy_together),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
