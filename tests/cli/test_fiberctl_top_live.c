/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_top_live.c - the live screen: keys, and the terminal restored at every end
 *
 * Curses draws what has changed, so a text may come in pieces; ctrl-l redraws everything in one
 * piece. The interval is so long that the screen is only refreshed by keys.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/cli/terminal.h"
#include "tests/harness/watchdog.h"

#define REDRAW "\f"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "240", "--stuck");
}

static struct terminal *begin(const char *process)
{
	struct terminal *t = terminal_start("vt100", "fiberctl", "top", process, "-n", "60", NULL);

	terminal_await(t, "h: help");
	return t;
}

/* Press keys, redraw everything, wait for a text in it. */
static void expect(struct terminal *t, const char *keys, const char *text)
{
	terminal_forget(t);
	terminal_type(t, keys);
	terminal_type(t, REDRAW);
	terminal_await(t, text);
}

static void quit(struct terminal *t)
{
	int status;

	terminal_type(t, "q");
	status = terminal_end(t);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_top_shows_totals_carriers_groups_and_fibers(void **state)
{
	struct terminal *t = begin(pid);
	char wanted[128];

	(void)state;
	snprintf(wanted, sizeof(wanted), "crowd, process %s: %zu fibers, 2 carriers", pid,
		 crowd.count);
	expect(t, "", wanted);
	expect(t, "", "waits: ");
	expect(t, "", "CARRIER STATE");
	expect(t, "", "COUNT   CPU%   SWITCH/S   OLDEST  KIND");
	expect(t, "", "running-0");
	quit(t);
}

static void test_top_filters_and_keeps_the_filter_when_the_next_is_wrong(void **state)
{
	struct terminal *t = begin(pid);
	char wanted[128];

	(void)state;
	snprintf(wanted, sizeof(wanted), "%zu of %zu match wait=mutex",
		 crowd_count(&crowd, "mutex"), crowd.count);
	expect(t, "/", "only fibers where: _");
	expect(t, "wait=muteX\177x", "only fibers where: wait=mutex_");
	expect(t, "\r", wanted);
	/* An error is shown until the next key. */
	expect(t, "/\025id>\r", "--where: a value is missing");
	expect(t, "\033OB", wanted);
	/* Escape keeps the old condition. */
	expect(t, "/\025id=1\033", wanted);
	expect(t, "/\025\r", "by cpu, largest first; every");
	quit(t);
}

static void test_top_orders_groups_and_freezes(void **state)
{
	struct terminal *t = begin(pid);

	(void)state;
	expect(t, "s", "by switches, largest first");
	expect(t, "r", "by switches, smallest first");
	expect(t, ">", "by age, largest first");
	expect(t, "<<", "by cpu, largest first");
	expect(t, "g", "OLDEST  OBJECT");
	expect(t, "f", "FROZEN; by cpu");
	expect(t, "g", "FROZEN: the next look will be so");
	expect(t, "f", "OLDEST  HOLDER");
	expect(t, "+", "every 1m");
	expect(t, "-", "every 30s");
	expect(t, "h", "freeze the picture");
	expect(t, "x", "by cpu, largest first; every 30s");
	quit(t);
}

static void test_top_shows_the_backtrace_of_the_marked_fiber(void **state)
{
	const struct crowd_member *m = crowd_find(&crowd, "sem", "sem-");
	struct terminal *t = begin(pid);
	char keys[64], wanted[128];

	(void)state;
	/*
	 * The condition allows no larger id than m's: sorted by id, largest first, m is in the
	 * first row.
	 */
	snprintf(keys, sizeof(keys), "/id<=%" PRIu64 "\r", m->id);
	expect(t, keys, "match id<=");
	expect(t, "<", "by id, smallest first");
	expect(t, "r", "by id, largest first");
	snprintf(wanted, sizeof(wanted), "fiber %" PRIu64 " \"%s\" [suspended: sem", m->id,
		 m->name);
	expect(t, "\r", wanted);
	terminal_await(t, "fiber_sem_");
	terminal_await(t, "any key goes back");
	expect(t, "x", "by id, largest first");
	expect(t, "\033OB\r", "any key goes back");
	assert_false(terminal_has(t, wanted));
	expect(t, "x\033OA\r", wanted);
	expect(t, "x", "by id, largest first");
	quit(t);
}

static void test_top_follows_the_size_of_its_terminal(void **state)
{
	struct terminal *t = begin(pid);
	int tries = 0;

	(void)state;
	expect(t, "", "waits: ");
	terminal_resize(t, 10, 60);
	/* A screen this small has no room for waits; its last line is the one with the help. */
	do {
		expect(t, "", "by cpu, largest first");
		terminal_await(t, "h: help");
	} while (terminal_has(t, "waits: ") && ++tries < 1000);
	assert_false(terminal_has(t, "waits: "));
	quit(t);
}

/* The program serves 16 clients at once and drops the one idle for longest for a new one. */
static void test_top_goes_on_after_its_connection_was_dropped(void **state)
{
	struct terminal *t = begin(pid);
	struct harness_process *p;
	int crowding[20];

	(void)state;
	for (size_t i = 0; i < 20; i++)
		crowding[i] = cli_attach(crowd.process->pid);
	/* The program answers this after it has accepted all 20 connections. */
	p = cli_run("fiberctl", "carriers", pid, NULL);
	cli_ended(p, 0);
	expect(t, "s", "by switches, largest first");
	for (size_t i = 0; i < 20; i++)
		close(crowding[i]);
	quit(t);
}

static void test_top_gives_the_terminal_back_when_it_is_ended(void **state)
{
	struct terminal *t = begin(pid);
	int status;

	(void)state;
	kill(t->pid, SIGTERM);
	status = terminal_end(t);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);

	t = begin(pid);
	terminal_type(t, "\003");
	status = terminal_end(t);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

static void test_top_says_so_when_the_program_ends(void **state)
{
	struct crowd other = crowd_start(NULL, "crowd", "20", NULL);
	struct terminal *t = begin(cli_number((uint64_t)other.process->pid));
	char wanted[64];
	int status;

	(void)state;
	snprintf(wanted, sizeof(wanted), "fiberctl: process %d: it has ended", other.process->pid);
	crowd_end(&other);
	terminal_forget(t);
	terminal_type(t, "s");
	status = terminal_end_saying(t, wanted);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
}

/* Nothing changes in a snapshot, but a user may navigate in it as in a process. */
static void test_top_of_a_snapshot_is_a_screen_too(void **state)
{
	char file[HARNESS_PATH];
	struct harness_process *p =
		cli_run("fiberctl", "snapshot", pid, "-o", harness_file(file, "top.snap"), NULL);
	struct terminal *t;

	(void)state;
	cli_expect(p, 1); /* running fibers have no stack */
	harness_free(p);
	t = begin(file);
	expect(t, "", " since the first began: ");
	expect(t, "/name=park-0\r", "1 of ");
	expect(t, "\r", "fiber_park");
	expect(t, "\r", "CARRIER STATE");
	quit(t);
	unlink(file);
}

static void test_top_needs_a_terminal_that_it_knows(void **state)
{
	static const char *const kinds[] = {"", "dumb", "no-such-terminal"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int status = terminal_end_saying(
			terminal_start(kinds[i], "fiberctl", "top", pid, NULL), "--once");

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_shows_totals_carriers_groups_and_fibers),
		cmocka_unit_test(test_top_filters_and_keeps_the_filter_when_the_next_is_wrong),
		cmocka_unit_test(test_top_orders_groups_and_freezes),
		cmocka_unit_test(test_top_shows_the_backtrace_of_the_marked_fiber),
		cmocka_unit_test(test_top_follows_the_size_of_its_terminal),
		cmocka_unit_test(test_top_goes_on_after_its_connection_was_dropped),
		cmocka_unit_test(test_top_gives_the_terminal_back_when_it_is_ended),
		cmocka_unit_test(test_top_says_so_when_the_program_ends),
		cmocka_unit_test(test_top_of_a_snapshot_is_a_screen_too),
		cmocka_unit_test(test_top_needs_a_terminal_that_it_knows),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
