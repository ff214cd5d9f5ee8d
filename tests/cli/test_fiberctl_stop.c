/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_stop.c - ctrl-z restores the terminal, and continuing redraws the screen
 *
 * A shell runs between the terminal and the tool: ctrl-z does not stop a session leader without a
 * parent in the session.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/cli/terminal.h"
#include "tests/harness/watchdog.h"

#define ENTER  "\033[?1049h"
#define LEAVE  "\033[?1049l"
#define CURSOR "\033[?25h"

/* The shell prints 128 plus the number of SIGTSTP for a stopped job. A line of input continues
 * it. */
#define SHELL "set -m; \"$@\"; echo \"stopped: $?\"; read go; fg; exit"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "20", NULL);
}

/* The end of the last `what` in the drawn text; NULL: not found. */
static const char *behind_last(const struct terminal *t, const char *what)
{
	const size_t length = strlen(what);
	const char *at = t->seen, *last = NULL;

	while ((at = memmem(at, t->used - (size_t)(at - t->seen), what, length)))
		last = at += length;
	return last;
}

/* Stop the program that draws `picture`, check the terminal, continue it, and wait until it
 * redraws. */
static void stop_and_go_on(struct terminal *t, const char *picture)
{
	const char *left, *text, *cursor;

	terminal_await(t, picture);
	terminal_await(t, ENTER);
	terminal_type(t, "\032");
	terminal_await(t, "stopped: 148");
	terminal_expect_mode(t);
	left = behind_last(t, LEAVE);
	cursor = behind_last(t, CURSOR);
	text = behind_last(t, "stopped: ");
	assert_non_null(left);
	assert_non_null(cursor);
	assert_true(behind_last(t, ENTER) < left);
	assert_true(behind_last(t, picture) < left);
	assert_true(cursor < text && left < text);
	terminal_forget(t);
	terminal_type(t, "\n");
	terminal_await(t, ENTER);
	terminal_await(t, picture);
	assert_false(terminal_has(t, LEAVE));
}

static void end(struct terminal *t, const char *key)
{
	int status;

	terminal_type(t, key);
	status = terminal_end_saying(t, LEAVE);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_top_that_is_stopped_gives_the_terminal_back(void **state)
{
	char program[HARNESS_PATH];
	struct terminal *t;

	(void)state;
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("a thread sanitizer objects to ncurses' own handler");
	t = terminal_start("xterm", "/bin/sh", "-c", SHELL, "sh",
			   harness_program(program, "fiberctl"), "top", pid, "-n", "60", NULL);
	stop_and_go_on(t, "h: help");
	end(t, "q");
}

static void stop_watch(const char *every, const char *command, const char *picture)
{
	char program[HARNESS_PATH];
	struct terminal *t = terminal_start("xterm", "/bin/sh", "-c", SHELL, "sh",
					    harness_program(program, "fiberctl"), "watch", "-n",
					    every, command, pid, NULL);

	stop_and_go_on(t, picture);
	end(t, "\003");
}

/* It redraws at once when continued, long before its next refresh. */
static void test_watch_that_is_stopped_gives_the_terminal_back(void **state)
{
	(void)state;
	stop_watch("1h", "list", "every 1h0m: list ");
}

/* Carriers are sampled for 200 ms, so ctrl-z usually stops the command itself. */
static void test_watch_that_is_stopped_within_a_look_goes_on_with_it(void **state)
{
	(void)state;
	stop_watch("10ms", "carriers", "every 10ms: carriers ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_that_is_stopped_gives_the_terminal_back),
		cmocka_unit_test(test_watch_that_is_stopped_gives_the_terminal_back),
		cmocka_unit_test(test_watch_that_is_stopped_within_a_look_goes_on_with_it),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
