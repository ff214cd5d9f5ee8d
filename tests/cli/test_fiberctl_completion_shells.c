/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_completion_shells.c - commands, options, processes and files that the shells
 * complete
 *
 * Other users may run programs with fibers meanwhile, so an offer may have more than the expected
 * words.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/shells.h"
#include "tests/harness/watchdog.h"

static struct crowd crowd;

static int start(void **state)
{
	crowd = crowd_start(NULL, "crowd", "10", NULL);
	return shells_start(state);
}

static int stop(void **state)
{
	shells_end(state);
	crowd_end(&crowd);
	return 0;
}

static void test_shells_offer_commands_topics_and_shells(void **state)
{
	(void)state;
	shells_expect("fiberctl li", "list");
	shells_expect("fiberctl --json ", "list policy help");
	shells_expect("fiberctl help ", "list where wait-kinds");
	shells_expect("fiberctl completion ", "bash zsh fish");
	shells_expect("fibertrace ", "list record help");
	shells_refute("fibertrace ", "policy");
	shells_refute("fiberctl nonsense ", "list");
}

/* Print a help text, and expect in every shell the first word of each of its lines that begins with
 * `start`. */
static void expect_of_help(const char *tool, const char *name, const char *start, const char *line)
{
	struct harness_process *p = cli_run(tool, "help", name, NULL);
	char wanted[4096] = "", *at, *rest = p->out.bytes, *row;
	unsigned n = 0;

	cli_expect(p, 0);
	while ((row = strsep(&rest, "\n")) && !strstr(row, "help TOPIC")) {
		at = strncmp(row, "  ", 2) == 0 ? strstr(row, start) : NULL;
		if (!at || at > row + 6 || !islower((unsigned char)at[strlen(start)]))
			continue;
		at[strcspn(at, " ")] = 0;
		strcat(strcat(wanted, n++ ? " " : ""), at);
	}
	assert_true(n > 0);
	shells_expect(line, wanted);
	harness_free(p);
}

static void test_shells_offer_all_that_the_help_tells(void **state)
{
	(void)state;
	expect_of_help("fiberctl", NULL, "  ", "fiberctl ");
	expect_of_help("fibertrace", NULL, "  ", "fibertrace ");
	expect_of_help("fiberctl", "list", "--", "fiberctl list -");
	expect_of_help("fiberctl", "stacks", "--", "fiberctl --json stacks crowd --");
	expect_of_help("fiberctl", "watch", "--", "fiberctl watch list -");
	expect_of_help("fiberctl", "list", "--", "fiberctl watch list -");
	expect_of_help("fibertrace", "record", "--", "fibertrace record -");
	shells_expect("fiberctl list -", "--json --color --help");
	shells_refute("fiberctl cancel -", "--all");
}

static void test_shells_offer_processes_and_files_for_a_process(void **state)
{
	const char *pid = cli_number((uint64_t)crowd.process->pid);
	char both[128];

	(void)state;
	snprintf(both, sizeof(both), "%s crowd kept.fib", pid);
	shells_expect("fiberctl list ", both);
	shells_expect("fiberctl bt --all ", both);
	shells_expect("fiberctl diff ", both);
	shells_expect("fiberctl diff kept.fib ", both);
	shells_expect("fiberctl diff kept.fib kept.fib kept.fib ke", "kept.fib");
	shells_expect("fiberctl watch list ", both);
	shells_expect("fibertrace ", both);
	shells_expect("fibertrace stacks ", both);
	/* These completions ask a running program. */
	snprintf(both, sizeof(both), "%s crowd", pid);
	shells_expect("fiberctl cancel ", both);
	shells_refute("fiberctl cancel ", "kept.fib");
	shells_refute("fiberctl show crowd ", "kept.fib");
	shells_refute("fiberctl show crowd ", "crowd");
}

static void test_shells_offer_files_for_a_file_and_folders_for_a_folder(void **state)
{
	(void)state;
	shells_expect("fiberctl snapshot crowd -o ke", "kept.fib");
	shells_expect("fiberctl snapshot crowd --output ke", "kept.fib");
	shells_expect("fiberctl snapshot crowd --output=ke", "kept.fib");
	shells_expect("fiberctl stacks crowd --svg ", "kept.fib kept.folder");
	shells_expect("fibertrace --core ke", "kept.fib");
	shells_expect("fibertrace list --snapshot=ke", "kept.fib");
	shells_expect("fibertrace report ke", "kept.fib");
	shells_expect("fibertrace list --sysroot ke", "kept.folder");
	shells_refute("fibertrace list --sysroot ke", "kept.fib");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shells_offer_commands_topics_and_shells),
		cmocka_unit_test(test_shells_offer_all_that_the_help_tells),
		cmocka_unit_test(test_shells_offer_processes_and_files_for_a_process),
		cmocka_unit_test(test_shells_offer_files_for_a_file_and_folders_for_a_folder),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
