/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_snapshot_commands.c - every command answers for a snapshot or says why it cannot
 *
 * A command missing in the table fails the test, and so does an entry for an unknown command.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/prom.h"
#include "tests/harness/watchdog.h"

#define FILE_ "FILE" /* placeholder for the snapshot */
#define ID    "ID"   /* placeholder for a fiber in it */

static const struct line {
	const char *words[6];
	bool json; /* with --json too */
	int code;
	const char *what; /* part of the output; of an error that names the file */
} table[] = {
	{{"list", FILE_}, true, 0, "snapshot of "},
	{{"list", FILE_, "--where", "wait = mutex"}, true, 0, "snapshot of "},
	{{"list", FILE_, "--group-by", "wait"}, true, 0, "snapshot of "},
	{{"show", FILE_, ID}, true, 0, "snapshot of "},
	{{"bt", FILE_, ID}, true, 0, "snapshot of "},
	{{"bt", FILE_, "--all"}, true, 0, "park_inner"},
	{{"stacks", FILE_}, true, 0, "park_inner"},
	{{"stacks", FILE_, "--folded"}, false, 0, "park_inner"},
	{{"tree", FILE_}, true, 0, "snapshot of "},
	{{"waits", FILE_}, true, 0, "mutex"},
	{{"deadlock", FILE_}, true, 0, "no deadlock"},
	{{"slow", FILE_}, true, 0, "snapshot of "},
	{{"slow", FILE_, "--follow"}, true, 2, "nothing comes that could be followed"},
	{{"pinned", FILE_}, true, 0, "snapshot of "},
	{{"pinned", FILE_, "--follow"}, true, 2, "nothing comes that could be followed"},
	{{"top", FILE_, "--once"}, true, 0, " since the first began: "},
	{{"carriers", FILE_}, true, 0, "snapshot of "},
	{{"carriers", FILE_, "--once"}, true, 0, "snapshot of "},
	{{"metrics", FILE_}, true, 0, "libfiber_fibers{"},
	{{"snapshot", FILE_, "-o", "x.snap"}, true, 2, "needs the process itself"},
	{{"serve", FILE_}, false, 2, "needs the process itself"},
	{{"watch", "snapshot", FILE_, "-o", "x.snap"}, false, 2, "needs the process itself"},
	{{"diff", FILE_, FILE_}, true, 0, "snapshot of "},
	{{"policy", FILE_}, true, 0, "pinned blocking: warn"},
	{{"policy", FILE_, "error"}, true, 2, "nothing can be changed in it"},
	{{"watchdog", FILE_}, true, 0, "watchdog: 20ms"},
	{{"watchdog", FILE_, "off"}, true, 2, "nothing can be changed in it"},
	{{"cancel", FILE_, ID}, true, 2, "nothing can be changed in it"},
	{{"wake", FILE_, ID}, true, 2, "nothing can be changed in it"},
	{{"audit", FILE_}, true, 0, "0 of 0 changes"},
	{{"audit", FILE_, "--follow"}, true, 2, "nothing comes that could be followed"},
	{{"profile", FILE_}, true, 2, "only a running program can be profiled"},
	{{"profile", FILE_, "--wait"}, true, 2, "only a running program can be profiled"},
};
#define LINES (sizeof(table) / sizeof(table[0]))

static char file[HARNESS_PATH], id[24];

/* The process has ended before the first question. */
static int start(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "200", NULL);
	struct harness_process *p;

	(void)state;
	snprintf(id, sizeof(id), "%s", cli_number(crowd_find(&crowd, "mutex", "mutex-")->id));
	p = cli_run("fiberctl", "snapshot", cli_number((uint64_t)crowd.process->pid), "-o",
		    harness_file(file, "a.snap"), NULL);
	cli_ended(p, 0);
	crowd_end(&crowd);
	return 0;
}

static const char *word(const char *text)
{
	return !text ? NULL : strcmp(text, FILE_) == 0 ? file : strcmp(text, ID) == 0 ? id : text;
}

static struct harness_process *run(const struct line *l, bool json)
{
	const char *w[7] = {NULL};
	unsigned n = 0;

	for (; l->words[n]; n++)
		w[n] = word(l->words[n]);
	if (json)
		w[n] = "--json";
	return cli_run("fiberctl", w[0], w[1], w[2], w[3], w[4], w[5], w[6], NULL);
}

static void expect(const struct line *l, bool json)
{
	struct harness_process *p = run(l, json);
	json_t *answer;

	cli_expect(p, l->code);
	if (l->code != 0) {
		assert_int_equal(p->out.size, 0);
		cli_contains(p->err.bytes, file);
		cli_contains(p->err.bytes, l->what);
	} else if (json) {
		answer = json_answer(p);
		json_promise(answer, l->words[0], JSON_ANSWER);
		assert_string_equal(json_text(answer, "source"), "snapshot");
		json_decref(answer);
	} else {
		cli_contains(p->out.bytes, l->what);
		assert_string_equal(p->err.bytes, "");
	}
	harness_free(p);
}

static void test_each_command_answers_or_says_why_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < LINES; i++) {
		expect(&table[i], false);
		if (table[i].json)
			expect(&table[i], true);
	}
}

/* Assert that each command reports what is wrong with the file, and the remedy. */
static void expect_broken(const char *what, const char *remedy)
{
	for (size_t i = 0; i < LINES; i++) {
		struct harness_process *p;

		if (strstr(table[i].what, "needs the process itself"))
			continue;
		p = run(&table[i], false);
		if (!strstr(p->err.bytes, what))
			print_error("%s\n", table[i].words[0]);
		cli_expect(p, 2);
		assert_int_equal(p->out.size, 0);
		cli_contains(p->err.bytes, file);
		cli_contains(p->err.bytes, what);
		cli_contains(p->err.bytes, remedy);
		harness_free(p);
	}
	cli_expect_error(cli_run("fibertrace", file, NULL), 2, "fibertrace", what);
	cli_expect_error(cli_run("fibertrace", "--snapshot", file, NULL), 2, "fibertrace", what);
}

static void test_each_command_says_what_is_wrong_with_a_file(void **state)
{
	static const char again[] = "copy it again, or take another one with 'fiberctl snapshot'";
	char whole[HARNESS_PATH], broken[HARNESS_PATH], command[3 * HARNESS_PATH];
	static const struct {
		const char *with, *what, *remedy;
	} ways[] = {
		{": >", "is empty: ", "'fiberctl snapshot PROCESS -o FILE' writes one"},
		{"head -c 100 $F >", "is cut: it has 100 bytes", again},
		{"head -c 1000 $F >", "is cut: it has 1000 of ", again},
		{"head -c -1 $F >", "is cut: it has ", again},
		{"(cat $F; echo) >", "has bytes behind its end, 1 more than the ", again},
	};

	(void)state;
	strcpy(whole, file);
	strcpy(file, harness_file(broken, "broken.snap"));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		snprintf(command, sizeof(command), "F=%s; %s %s", whole, ways[i].with, broken);
		harness_free(cli_run("/bin/sh", "-c", command, NULL));
		expect_broken(ways[i].what, ways[i].remedy);
	}
	strcpy(file, whole);
}

/* A name without a folder is first tried as a process name. */
static void test_an_empty_file_is_told_of_where_no_process_has_its_name(void **state)
{
	const struct harness_how there = {.folder = harness_folder()};
	char path[HARNESS_PATH];

	(void)state;
	fclose(fopen(harness_file(path, "empty.snap"), "w"));
	cli_expect_error(cli_run_how(&there, "fiberctl", "list", "empty.snap", NULL), 2, "fiberctl",
			 "; the file of that name is empty");
}

/* Whether a command is not about a process, or says of these fibers what depends on the time: test_why.c. */
static bool is_other(const char *name)
{
	return strcmp(name, "completion") == 0 || strcmp(name, "why") == 0;
}

static void test_no_command_is_missing_here(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "--help", NULL);
	char *line, *rest, name[32];
	bool seen[LINES] = {false};
	unsigned commands = 0;

	(void)state;
	cli_expect(p, 0);
	rest = strstr(p->out.bytes, "\n\n");
	assert_non_null(rest);
	while ((line = strsep(&rest, "\n")) && !strstr(line, "help TOPIC")) {
		bool found = false;

		/* Two spaces, a name, a space. */
		if (sscanf(line, "  %31[a-z]%*[ ]", name) != 1 || strncmp(line + 2, name, 1) != 0 ||
		    is_other(name))
			continue;
		commands++;
		for (size_t i = 0; i < LINES; i++)
			if (strcmp(table[i].words[0], name) == 0)
				found = seen[i] = true;
		if (!found)
			print_error("%s: is not in the table\n", name);
		assert_true(found);
	}
	assert_in_range(commands, 20, 99);
	for (size_t i = 0; i < LINES; i++)
		assert_true(seen[i]);
	harness_free(p);
}

static void test_metrics_of_it_are_well_formed(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "metrics", file, NULL);

	(void)state;
	cli_expect(p, 0);
	prom_check(p->out.bytes);
	assert_int_equal((int)prom_sum(p->out.bytes, "libfiber_fibers", "", NULL), 200);
	assert_int_equal((int)prom_sum(p->out.bytes, "libfiber_up", "", NULL), 1);
	harness_free(p);
}

static void test_watch_shows_it_again_and_again(void **state)
{
	char tool[HARNESS_PATH];
	const char *const argv[] = {
		harness_program(tool, "fiberctl"), "watch", "policy", file, "-n", "0.05", NULL};
	struct harness_process *p = harness_start(argv, NULL);

	(void)state;
	assert_non_null(harness_wait_line(p, "--- ", CLI_SECONDS));
	assert_int_equal(kill(p->pid, SIGINT), 0);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	assert_int_equal(harness_exit_code(p), 0);
	cli_contains(p->out.bytes, "pinned blocking: warn");
	harness_free(p);
}

static void test_fibertrace_takes_it_in_each_form(void **state)
{
	static const char *const forms[][2] = {
		{NULL}, {"--each"}, {"--json"}, {"--each", "--json"}, {"--snapshot"}};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *a = forms[i][0], *b = forms[i][1];
		struct harness_process *p =
			cli_run("fibertrace", a ? a : file, a ? (b ? b : file) : NULL,
				b ? file : NULL, NULL);

		cli_expect(p, 0);
		cli_contains(p->out.bytes, "park_inner");
		harness_free(p);
	}
	cli_expect_error(cli_run("fibertrace", "--core", file, NULL), 2, "fibertrace", file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_command_answers_or_says_why_not),
		cmocka_unit_test(test_each_command_says_what_is_wrong_with_a_file),
		cmocka_unit_test(test_an_empty_file_is_told_of_where_no_process_has_its_name),
		cmocka_unit_test(test_no_command_is_missing_here),
		cmocka_unit_test(test_metrics_of_it_are_well_formed),
		cmocka_unit_test(test_watch_shows_it_again_and_again),
		cmocka_unit_test(test_fibertrace_takes_it_in_each_form),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, NULL);
}
