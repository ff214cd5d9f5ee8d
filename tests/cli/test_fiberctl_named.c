/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_named.c - a process is found by its name, and a file where no process has that name
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

/* No process has the name of the file. */
static void test_list_finds_a_snapshot_by_its_bare_name(void **state)
{
	const struct harness_how in_folder = {.folder = harness_folder()};
	struct crowd one = crowd_start(NULL, "crowd", "2", NULL);
	char path[HARNESS_PATH];
	json_t *answer;

	(void)state;
	cli_ended(cli_run("fiberctl", "snapshot", cli_number((uint64_t)one.process->pid), "-o",
			  harness_file(path, "bare.snap"), NULL),
		  0);
	harness_end(one.process);
	answer =
		json_well(cli_run_how(&in_folder, "fiberctl", "list", "bare.snap", "--json", NULL));
	assert_string_equal(json_text(answer, "source"), "snapshot");
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), one.count);
	json_decref(answer);
	crowd_end(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_finds_a_process_by_its_name),
		cmocka_unit_test(test_list_refuses_a_name_that_two_processes_have),
		cmocka_unit_test(test_list_finds_a_snapshot_by_its_bare_name),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
