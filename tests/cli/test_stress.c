/* SPDX-License-Identifier: MIT */
/* test_stress.c - the stress test detects a hanging fiber and names it and its wait */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

static struct harness_process *stress(const char *option)
{
	char path[HARNESS_PATH + 32];

	snprintf(path, sizeof path, "%s/tests/stress/stress", harness_build());
	return cli_run(path, "--seconds", "50", "--patience", "3", "--seed", "4711", "--carriers",
		       "2", option, NULL);
}

static void test_stress_turns_a_stall_into_a_dump_of_all_fibers(void **state)
{
	struct harness_process *p = stress("--stall");

	(void)state;
	assert_false(p->timed_out);
	assert_true(WIFSIGNALED(p->status));
	assert_int_equal(WTERMSIG(p->status), SIGABRT);
	/* The name of the fiber, and its theme: */
	cli_contains(p->err.bytes, "stall: stall with 2 carriers: nothing for 3 s from:");
	cli_contains(p->err.bytes, "stall: in-vain-0, fiber ");
	cli_contains(p->err.bytes, "fiber_sem_wait, in vain");
	/* The dump has it with its wait, and also the fibers that go on: */
	cli_contains(p->err.bytes, "\"in-vain-0\" [suspended: sem");
	cli_contains(p->err.bytes, "\"never posted\"");
	cli_contains(p->err.bytes, "\"sleep-2\"");
	/* Those that go on are not reported. */
	assert_null(strstr(p->err.bytes, "stall: sleep-"));
	cli_contains(p->err.bytes, "again with: --seed 4711");
	assert_null(strstr(p->out.bytes, "ok 1"));
	harness_free(p);
}

static void test_stress_says_which_themes_there_are(void **state)
{
	struct harness_process *p = stress("no-such-theme");

	(void)state;
	cli_expect(p, 64);
	cli_contains(p->err.bytes, "mutex");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stress_turns_a_stall_into_a_dump_of_all_fibers),
		cmocka_unit_test(test_stress_says_which_themes_there_are),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
