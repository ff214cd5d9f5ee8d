/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_named.c - the process is found by its name
 *
 * fiberctl asks every process with a control socket for its name. So these tests run while no other
 * test does: a program of another test may be stopped, and is left out with exit code 1.
 */
#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static void test_list_finds_a_process_by_its_name(void **state)
{
	struct crowd one = crowd_start(NULL, "crowd", "2", NULL);
	struct harness_process *p = cli_run("fiberctl", "list", "crowd", "--json", NULL);
	json_t *answer = json_well(p);

	(void)state;
	assert_int_equal(json_int(answer, "pid"), one.process->pid);
	json_decref(answer);
	crowd_end(&one);
}

static void test_list_refuses_a_name_that_two_processes_have(void **state)
{
	struct crowd one = crowd_start(NULL, "crowd", "2", NULL);
	struct crowd other = crowd_start(NULL, "crowd", "2", NULL);

	(void)state;
	cli_expect_error(cli_run("fiberctl", "list", "crowd", NULL), 2, "fiberctl",
			 cli_number((uint64_t)other.process->pid));
	crowd_end(&other);
	crowd_end(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_finds_a_process_by_its_name),
		cmocka_unit_test(test_list_refuses_a_name_that_two_processes_have),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
