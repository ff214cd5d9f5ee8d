/* SPDX-License-Identifier: MIT */
/* test_fiberctl_full_disk.c - whoever cannot print all of an answer says so, and no script takes it for one. */
#include <stdio.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/watchdog.h"

static struct crowd stuck;

static int start(void **state)
{
	(void)state;
	stuck = crowd_start(NULL, "deadlock", "--crossing", NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	crowd_end(&stuck);
	return 0;
}

static void test_what_does_not_fit_on_the_disk_is_1_and_said(void **state)
{
	static const char *const asks[] = {
		"list $P",
		"list $P --json",
		"list $P --json=lines",
		"list $P -g wait",
		"list $P -s age",
		"show $P 1",
		"show $P 1 --json",
		"bt $P 1",
		"bt $P --all --json",
		"stacks $P",
		"stacks $P --folded",
		"stacks $P --json",
		"tree $P",
		"tree $P --json",
		"waits $P",
		"waits $P --dot",
		"waits $P --json",
		"deadlock $P",
		"deadlock $P -j",
		"slow $P",
		"pinned $P --json",
		"top $P --once",
		"top $P --json",
		"carriers $P",
		"metrics $P",
		"policy $P",
		"watchdog $P --json",
		"audit $P",
		"watch list $P",
		"help",
		"completion bash",
		"--version",
		"",
	};
	char tool[HARNESS_PATH], command[HARNESS_PATH + 128];

	(void)state;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		struct harness_process *p;

		snprintf(command, sizeof(command), "P=%d; %s %s > /dev/full", stuck.process->pid,
			 harness_program(tool, "fiberctl"), asks[i]);
		p = cli_run("/bin/sh", "-c", command, NULL);
		if (p->status != 1)
			print_error("%s: %s", command, p->err.bytes);
		cli_expect(p, 1);
		cli_contains(p->err.bytes,
			     "fiberctl: standard output: what was written is not whole: ");
		harness_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_does_not_fit_on_the_disk_is_1_and_said),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
