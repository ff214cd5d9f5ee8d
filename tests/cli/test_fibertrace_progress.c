/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_progress.c - the progress of a long command, shown only on a user's terminal
 *
 * fixtures/plugins/late.c advances the tool's clock by a second at each reading, so 200 fibers take
 * long enough.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/cli/terminal.h"
#include "tests/harness/watchdog.h"

#define DRAWN  " fibers\033[K"
#define ERASED "\r\033[K"
#define END    "sampled over"

static char late[HARNESS_PATH + 32], core[HARNESS_PATH], snapshot[HARNESS_PATH];

static int start(void **state)
{
	struct harness_process *p;

	(void)state;
	one_crowd("crowd", "220", NULL);
	snprintf(late, sizeof(late), "LD_PRELOAD=%s/plugins/late.so", harness_build());
	p = cli_run("fiberctl", "snapshot", pid, "-o", harness_file(snapshot, "a.snap"), NULL);
	cli_ended(p, 0);
	if (!*harness_sanitizer())
		cli_core(crowd.process->pid, "progress.core", core);
	return 0;
}

static struct terminal *run(const char *tool, const char *const words[4])
{
	char path[HARNESS_PATH];

	return terminal_start("xterm", "/usr/bin/env", late,
			      "ASAN_OPTIONS=verify_asan_link_order=0", harness_program(path, tool),
			      words[0], words[1], words[2], words[3], NULL);
}

/* The last position of a text in what was drawn. */
static size_t last(const struct terminal *t, const char *text)
{
	const size_t n = strlen(text);

	for (size_t at = t->used - n + 1; at-- > 0;)
		if (!memcmp(t->seen + at, text, n))
			return at;
	print_error("never drawn: %s\n", text);
	fail();
	return 0;
}

/* Assert that the progress is drawn, and erased before `end` is printed. */
static void draws(const char *tool, const char *const words[4], const char *what, const char *end)
{
	struct terminal *t = run(tool, words);

	terminal_await(t, what);
	terminal_await(t, end);
	assert_true(last(t, what) < last(t, ERASED));
	assert_true(last(t, ERASED) < last(t, end));
	assert_true(WIFEXITED(terminal_end(t)));
}

static void test_each_command_says_how_far_it_is(void **state)
{
	const char *const commands[][4] = {
		{"list", pid, "--limit", "5"},
		{"list", pid, "--sort", "age"},
		{"list", pid, "--group-by=state"},
		{"stacks", pid},
		{"bt", pid, "--all", "--where=id=9"},
		{"tree", pid, "--limit", "5"},
		{"waits", pid},
		{"deadlock", pid},
		{pid},
		{pid, "--each", "--where", "id=9"},
		{"stacks", snapshot},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		draws("fibertrace", commands[i], DRAWN, END);
	draws("fiberctl", (const char *const[4]){"stacks", snapshot}, DRAWN, END);
}

static void test_a_core_is_told_of_too(void **state)
{
	char out[HARNESS_PATH + 16];

	(void)state;
	if (!*core)
		cli_skip("no cores of sanitizer builds");
	draws("fibertrace", (const char *const[4]){"stacks", core}, DRAWN, END);
	draws("fibertrace", (const char *const[4]){"waits", core}, DRAWN, END);
	snprintf(out, sizeof(out), "-o%s.out", core);
	draws("fibertrace", (const char *const[4]){"to-core", core, out}, "\rcopying: ", END);
	draws("fibertrace", (const char *const[4]){"to-core", pid, out, "--force"},
	      "\rcopying: ", END);
}

/* Rows printed meanwhile are on their own lines, and nothing is drawn into JSON. */
static void test_rows_on_the_same_terminal_stay_whole(void **state)
{
	struct terminal *t = run("fibertrace", (const char *const[4]){"list", pid, "--all"});
	size_t rows = 0;

	(void)state;
	terminal_await(t, END);
	assert_true(terminal_has(t, DRAWN));
	for (size_t i = 1; i < t->used; i++) {
		/* After a newline or an erase: an id in its column. */
		if (t->seen[i - 1] == '\n' || t->seen[i - 1] == 'K')
			rows += !memcmp(t->seen + i, "      ", 6);
	}
	assert_true(rows >= crowd.count);
	assert_true(WIFEXITED(terminal_end(t)));
	t = run("fibertrace", (const char *const[4]){"list", pid, "--json"});
	terminal_await(t, "\"problems\"");
	assert_false(terminal_has(t, DRAWN));
	assert_true(WIFEXITED(terminal_end(t)));
}

static void test_who_is_not_at_a_terminal_sees_nothing(void **state)
{
	char path[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	p = cli_run("/usr/bin/env", late, "ASAN_OPTIONS=verify_asan_link_order=0",
		    harness_program(path, "fibertrace"), "stacks", pid, NULL);
	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	assert_null(strchr(p->out.bytes, '\r'));
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_command_says_how_far_it_is),
		cmocka_unit_test(test_a_core_is_told_of_too),
		cmocka_unit_test(test_rows_on_the_same_terminal_stay_whole),
		cmocka_unit_test(test_who_is_not_at_a_terminal_sees_nothing),
	};

	harness_watchdog(200);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
