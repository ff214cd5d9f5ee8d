/* SPDX-License-Identifier: MIT */
/* test_fiberctl_full_disk.c - a tool that cannot print its whole answer reports that and fails */
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
	"metrics $P --json",
	"policy $P",
	"watchdog $P --json",
	"audit $P",
	"profile $P --wait --for 50ms",
	"profile $P --wait --for 50ms --json",
	"profile $P --wait --for 50ms --folded",
	"profile $P --wait --for 50ms -o -",
	"watch list $P",
	"help",
	"completion bash",
	"--version",
	"",
};

static const char *const traces[] = {
	"$P",
	"$P --json",
	"--each $P --json",
	"list $P",
	"stacks $P --folded",
	"to-core $P -o $D/core --force",
	"to-core $P -o $D/core --force --json",
	"record $P -o $D/record --force --for 50ms",
	"report $D/record",
	"report $D/record --json",
	"help",
	"--version",
};

/* Run a tool whose standard output is this file; returns its message. */
static void cannot_print(const char *tool, const char *ask, const char *to, const char *why)
{
	char path[HARNESS_PATH], command[2 * HARNESS_PATH + 128], said[128];
	struct harness_process *p;

	snprintf(command, sizeof(command), "P=%d; D=%s; %s %s %s", stuck.process->pid,
		 harness_folder(), harness_program(path, tool), ask, to);
	snprintf(said, sizeof(said), "%s: standard output: what was written is not whole: %s", tool,
		 why);
	p = cli_run("/bin/sh", "-c", command, NULL);
	if (harness_exit_code(p) != 1)
		print_error("%s: %s", command, p->err.bytes);
	cli_expect(p, 1);
	cli_contains(p->err.bytes, said);
	harness_free(p);
}

static void nobody_can_print(const char *to, const char *why)
{
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		cannot_print("fiberctl", asks[i], to, why);
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
		cannot_print("fibertrace", traces[i], to, why);
}

static void test_what_does_not_fit_on_the_disk_is_1_and_said(void **state)
{
	(void)state;
	nobody_can_print("> /dev/full", "");
}

/* The first file that a tool opens must not become its standard output. */
static void test_what_has_no_standard_output_is_1_and_said(void **state)
{
	(void)state;
	nobody_can_print(">&-", "it is closed");
}

/* The answer is the same as with all three descriptors, without extra lines. */
static void test_what_has_no_standard_error_answers(void **state)
{
	static const char *const how[] = {"", "2>&-", "<&-", "<&- 2>&-"};
	char tool[HARNESS_PATH], command[HARNESS_PATH + 128];
	struct harness_process *p;

	(void)state;
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		snprintf(command, sizeof(command), "%s list %d --columns id,name %s | tail -n +2",
			 harness_program(tool, "fiberctl"), stuck.process->pid, how[i]);
		p = cli_run("/bin/sh", "-c", command, NULL);
		cli_expect(p, 0);
		cli_contains(p->out.bytes, "crossing-0");
		cli_contains(p->out.bytes, "shown 2 of 2 fibers, ");
		assert_string_equal(p->err.bytes, "");
		harness_free(p);
	}
	snprintf(command, sizeof(command), "%s list no-such-program 2>&-",
		 harness_program(tool, "fiberctl"));
	p = cli_run("/bin/sh", "-c", command, NULL);
	cli_ended(p, 2);
}

/* The written file must not become standard output: the line with its size would end up in it. */
static void test_what_is_written_without_any_is_whole(void **state)
{
	char tool[HARNESS_PATH], file[HARNESS_PATH], command[3 * HARNESS_PATH + 128];
	struct harness_process *p;

	(void)state;
	snprintf(file, sizeof(file), "%s/closed.snap", harness_folder());
	snprintf(command, sizeof(command), "%s snapshot %d -o %s <&- >&- 2>&-",
		 harness_program(tool, "fiberctl"), stuck.process->pid, file);
	p = cli_run("/bin/sh", "-c", command, NULL);
	cli_ended(p, 1);
	p = cli_run("fiberctl", "list", file, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "crossing-1");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_does_not_fit_on_the_disk_is_1_and_said),
		cmocka_unit_test(test_what_has_no_standard_output_is_1_and_said),
		cmocka_unit_test(test_what_has_no_standard_error_answers),
		cmocka_unit_test(test_what_is_written_without_any_is_whole),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
