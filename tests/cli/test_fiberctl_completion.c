/* SPDX-License-Identifier: MIT */
/* test_fiberctl_completion.c - exactly what bash offers, and that each shell parses its script */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/watchdog.h"

/* PATH with the folder of fiberctl first, as after an installation. */
static const char *path_with_fiberctl(void)
{
	static char path[4096];

	snprintf(path, sizeof(path), "PATH=%s/bin:%s", harness_build(), getenv("PATH"));
	return path;
}

static const char *tool = "fiberctl";

/* What bash offers for words of which the last is being typed; one per line. */
static struct harness_process *offered(const char *words)
{
	const char *const env[] = {path_with_fiberctl(), NULL};
	const struct harness_how how = {.env = env};
	char script[1024];

	snprintf(script, sizeof(script),
		 "unset HOME; set -u; eval \"$(%s completion bash)\"; COMP_WORDS=(%s %s); "
		 "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _%s; "
		 "for w in \"${COMPREPLY[@]}\"; do echo \"<$w>\"; done",
		 tool, tool, words, tool);
	return harness_run((const char *[]){"bash", "-c", script, NULL}, &how, CLI_SECONDS);
}

/* Assert that bash offers exactly these words: each in < and >, one per line. */
static void expect_offered(const char *words, const char *expected)
{
	struct harness_process *p = offered(words);

	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	assert_string_equal(p->out.bytes, expected);
	harness_free(p);
}

static void expect_among(const char *words, const char *expected)
{
	struct harness_process *p = offered(words);

	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	cli_contains(p->out.bytes, expected);
	harness_free(p);
}

static void test_completion_of_bash_offers_commands_and_topics(void **state)
{
	(void)state;
	expect_offered("pol", "<policy>\n");
	expect_offered("help wait-", "<wait-kinds>\n");
	expect_offered("help can", "<cancel>\n");
	expect_among("''", "<help>\n");
	expect_among("''", "<audit>\n");
	expect_among("--json ''", "<list>\n");
	expect_offered("nonsense ''", "");
}

static void test_completion_of_bash_offers_the_options_that_a_command_takes(void **state)
{
	struct harness_process *p;

	(void)state;
	expect_offered("bt --al", "<--all>\n<--all-frames>\n");
	expect_among("list -", "<--json>\n");
	expect_offered("wake --al", "");
	expect_offered("--vers", "<--version>\n");
	expect_offered("--color ''", "<auto>\n<always>\n<never>\n");
	/* The argument of an option is not the command. */
	expect_among("--color never pol", "<policy>\n");
	p = offered("cancel -");
	assert_null(strstr(p->out.bytes, "--all"));
	harness_free(p);
}

static void test_completion_of_bash_offers_processes_and_settings_but_no_fibers(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "10", NULL);
	char pid[32], start[64];

	(void)state;
	snprintf(pid, sizeof(pid), "<%d>\n", crowd.process->pid);
	snprintf(start, sizeof(start), "list %d", crowd.process->pid);
	expect_offered("list cro", "<crowd>\n");
	expect_among("show ''", pid);
	expect_offered(start, pid);
	expect_among("bt --all ''", pid);
	expect_offered("policy crowd ''", "<warn>\n<error>\n<silent>\n");
	expect_offered("policy crowd e", "<error>\n");
	expect_offered("show crowd ''", "");
	expect_offered("completion f", "<fish>\n");
	expect_offered("serve cro", "<crowd>\n");
	expect_offered("serve other cro", "<crowd>\n");
	expect_offered("serve --allow-changes --listen 6060 cro", "<crowd>\n");
	expect_offered("serve --listen cro", "");
	expect_offered("serve /etc/passw", "");
	/* An option whose argument is a file. */
	expect_among("stacks crowd --svg /etc/passw", "</etc/passwd>\n");
	expect_among("serve --token-file /etc/passw", "</etc/passwd>\n");
	expect_offered("profile crowd --bl", "<--block>\n");
	expect_among("profile crowd -o /etc/passw", "</etc/passwd>\n");
	crowd_end(&crowd);
}

static void test_completion_of_fibertrace_is_of_its_own_commands(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "10", NULL);
	char wanted[32];

	(void)state;
	snprintf(wanted, sizeof(wanted), "<%d>\n", crowd.process->pid);
	tool = "fibertrace";
	expect_offered("poli", "");
	expect_offered("deadl", "<deadlock>\n");
	expect_offered("--eac", "<--each>\n");
	expect_offered("list --cor", "<--core>\n");
	expect_among("list --core /etc/passw", "</etc/passwd>\n");
	expect_among("''", "<list>\n");
	/* A process may take the place of a command. */
	expect_among("''", wanted);
	expect_among("stacks ''", wanted);
	expect_among("record ''", wanted);
	expect_among("record ''", "<crowd>\n");
	expect_among("to-core ''", "<crowd>\n");
	tool = "fiberctl";
	expect_offered("list --cor", "");
	crowd_end(&crowd);
}

static void test_completion_offers_no_name_that_a_shell_would_read_as_more(void **state)
{
	char program[HARNESS_PATH], odd[HARNESS_PATH + 32];
	struct harness_process *p;
	struct crowd crowd;

	(void)state;
	harness_file(odd, "a $(touch x)");
	assert_int_equal(symlink(harness_program(program, "crowd"), odd), 0);
	crowd = crowd_start(NULL, odd, "10", NULL);
	p = offered("list ''");
	cli_expect(p, 0);
	assert_null(strchr(p->out.bytes, '$'));
	assert_null(strchr(p->out.bytes, '('));
	cli_contains(p->out.bytes, cli_number((uint64_t)crowd.process->pid));
	harness_free(p);
	crowd_end(&crowd);
}

/* Check that a shell parses the script. */
static void parsed_by(const char *shell, const char *option)
{
	const char *const env[] = {path_with_fiberctl(), NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *p;
	char script[256];

	snprintf(script, sizeof(script),
		 "t=$(mktemp) && fiberctl completion %s >$t && %s %s $t; r=$?; rm -f $t; exit $r",
		 shell, shell, option);
	p = harness_run((const char *[]){"sh", "-c", script, NULL}, &how, CLI_SECONDS);
	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
}

static void test_completion_is_parsed_by_bash(void **state)
{
	(void)state;
	parsed_by("bash", "-n");
}

static void test_completion_is_parsed_by_zsh(void **state)
{
	(void)state;
	parsed_by("zsh", "-n");
}

static void test_completion_is_parsed_by_fish(void **state)
{
	(void)state;
	parsed_by("fish", "-n");
}

static void test_completion_of_another_shell_is_a_usage_error(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "completion", "tcsh", NULL), 64, "fiberctl", "tcsh");
	cli_expect_error(cli_run("fiberctl", "completion", NULL), 64, "fiberctl", "bash");
}

static void test_completion_as_json_is_a_usage_error_and_prints_nothing(void **state)
{
	static const char *const shells[] = {"bash", "zsh", "fish"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct harness_process *p =
			cli_run("fiberctl", "completion", shells[i], "--json", NULL);

		assert_string_equal(p->out.bytes, "");
		cli_expect_error(p, 64, "fiberctl", "leave --json out");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_completion_of_bash_offers_commands_and_topics),
		cmocka_unit_test(test_completion_of_bash_offers_the_options_that_a_command_takes),
		cmocka_unit_test(
			test_completion_of_bash_offers_processes_and_settings_but_no_fibers),
		cmocka_unit_test(test_completion_of_fibertrace_is_of_its_own_commands),
		cmocka_unit_test(test_completion_offers_no_name_that_a_shell_would_read_as_more),
		cmocka_unit_test(test_completion_is_parsed_by_bash),
		cmocka_unit_test(test_completion_is_parsed_by_zsh),
		cmocka_unit_test(test_completion_is_parsed_by_fish),
		cmocka_unit_test(test_completion_of_another_shell_is_a_usage_error),
		cmocka_unit_test(test_completion_as_json_is_a_usage_error_and_prints_nothing),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
