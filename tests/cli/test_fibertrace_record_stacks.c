/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_record_stacks.c - a wait has the stack that was sampled during it, or none
 *
 * turns moves its fibers to another place only on request and reports the end of the move. The
 * recorder reports when it has sampled all stacks. So it is known which waits were sampled, and
 * where.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

enum { WALKERS = 3, PASSERS = 2 };

static char file[HARNESS_PATH];
static struct harness_process *turns, *recorder;

/* Record turns. Samplings are reported on standard error; it is redirected, because we wait for
 * lines of standard output. */
static void start(const char *every, const char *more)
{
	char command[HARNESS_PATH * 3], program[HARNESS_PATH];

	harness_file(file, "turns.rec");
	snprintf(
		command, sizeof command,
		"exec '%s' record --verbose --for 60s --force --stacks-every %s %s -o '%s' %d 2>&1",
		harness_program(program, "fibertrace"), every, more, file, (int)turns->pid);
	recorder = cli_start(NULL, "recording", "/bin/sh", "-c", command, NULL);
}

/* Wait for n more samplings than were seen. */
static void wait_for_looks(unsigned n)
{
	char line[32];
	const char *at;

	for (at = recorder->out.bytes; (at = strstr(at, "\nlook ")); at++)
		n++;
	snprintf(line, sizeof line, "look %u:", n);
	assert_non_null(harness_wait_line(recorder, line, CLI_SECONDS));
}

/* Wait for a sampling that started after this call. The first report covers all samplings so far,
 * and the next sampling may have started before the call. */
static void look(void)
{
	wait_for_looks(1);
	wait_for_looks(2);
}

static void step(const char *said)
{
	assert_int_equal(kill(turns->pid, SIGUSR1), 0);
	assert_non_null(harness_wait_line(turns, said, CLI_SECONDS));
}

static void stop(int code)
{
	assert_int_equal(kill(recorder->pid, SIGINT), 0);
	assert_true(harness_wait_end(recorder, CLI_SECONDS));
	cli_ended(recorder, code);
	harness_free(turns);
}

static json_t *report(int code)
{
	return json_ended(cli_run("fibertrace", "report", "--json", file, NULL), code);
}

/* The row of a table whose text contains this; NULL. */
static json_t *row_of(const json_t *answer, const char *table, const char *key, const char *part)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(answer, table), i, row) {
		const char *text = json_string_value(json_object_get(row, key));

		if (text && strstr(text, part))
			return row;
	}
	return NULL;
}

static json_int_t sum(const json_t *answer, const char *table, const char *key)
{
	json_int_t all = 0;
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(answer, table), i, row)
		all += json_int(row, key);
	return all;
}

/* Assert that the sums of the tables agree with the totals. */
static void expect_sums(const json_t *answer)
{
	const json_t *totals = json_object_get(answer, "totals");

	assert_int_equal(sum(answer, "stacks", "waitingNs"), json_int(totals, "sampledNs"));
	assert_int_equal(sum(answer, "stacks", "waits"), json_int(totals, "sampledWaits"));
	assert_int_equal(sum(answer, "waits", "sampledNs"), json_int(totals, "sampledNs"));
	assert_int_equal(sum(answer, "waits", "waitingNs"), json_int(totals, "waitingNs"));
	assert_int_equal(sum(answer, "waits", "waits"), json_int(totals, "waits"));
	assert_true(json_int(totals, "sampledNs") <= json_int(totals, "waitingNs"));
}

static void expect_place(const json_t *answer, const char *place, unsigned waits, unsigned fibers,
			 unsigned at_end)
{
	const json_t *row = row_of(answer, "stacks", "stack", place);

	assert_non_null(row);
	assert_int_equal(json_int(row, "waits"), waits);
	assert_int_equal(json_int(row, "fibers"), fibers);
	assert_int_equal(json_int(row, "fibersAtEnd"), at_end);
}

static void test_each_wait_has_the_stack_of_its_own_place(void **state)
{
	char program[HARNESS_PATH];
	json_t *answer;

	(void)state;
	/* A sanitizer splits one function into several frames, and others while a recorder is
	 * on. */
	turns = cli_start(NULL, "ready ", harness_plain(program, "turns"), NULL);
	start("20ms", "");
	look();
	step("step 1");
	look();
	step("step 2");
	look();
	stop(0);
	answer = report(0);
	/* The walkers wait here, there and here again; the passers exit in the first step. */
	expect_place(answer, "walker;stay_here;", 2 * WALKERS, WALKERS, WALKERS);
	expect_place(answer, "walker;stay_there;", WALKERS, WALKERS, 0);
	expect_place(answer, "passer;stay_here;", PASSERS, PASSERS, 0);
	assert_int_equal(json_array_size(json_object_get(answer, "stacks")), 3);
	assert_int_equal(json_int(json_object_get(answer, "totals"), "sampledWaits"),
			 3 * WALKERS + PASSERS);
	assert_int_equal(json_int(json_object_get(answer, "totals"), "sampledNs"),
			 json_int(json_object_get(answer, "totals"), "waitingNs"));
	assert_true(json_array_size(json_object_get(answer, "looks")) >= 7);
	expect_sums(answer);
	json_decref(answer);
}

/*
 * The walkers are there between two samplings: that wait has no stack and counts for neither place.
 */
static void test_wait_that_nobody_looked_at_is_not_sampled(void **state)
{
	const json_t *totals;
	struct harness_process *p;
	char program[HARNESS_PATH];
	json_t *answer, *row = NULL;
	size_t i;

	(void)state;
	turns = cli_start(NULL, "ready ", harness_plain(program, "turns"), NULL);
	start("60s", "");
	assert_non_null(harness_wait_line(recorder, "look 1", CLI_SECONDS));
	step("step 1");
	step("step 2");
	stop(0);
	answer = report(0);
	totals = json_object_get(answer, "totals");
	expect_place(answer, "walker;stay_here;", 2 * WALKERS, WALKERS, WALKERS);
	expect_place(answer, "passer;stay_here;", PASSERS, PASSERS, 0);
	assert_null(row_of(answer, "stacks", "stack", "stay_there"));
	assert_int_equal(json_int(totals, "waits") - json_int(totals, "sampledWaits"), WALKERS);
	assert_true(json_int(totals, "sampledNs") < json_int(totals, "waitingNs"));
	/* Waits without a sample have their own row among the wait kinds. */
	json_array_foreach (json_object_get(answer, "waits"), i, row)
		if (json_is_null(json_object_get(row, "stack")))
			break;
	assert_non_null(row);
	assert_int_equal(json_int(row, "waits"), WALKERS);
	assert_int_equal(json_int(row, "sampledNs"), 0);
	expect_sums(answer);
	json_decref(answer);
	p = cli_run("fibertrace", "report", file, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\nstacks, sampled 2 times: ");
	cli_contains(p->out.bytes, "          3           (not sampled)\n");
	cli_contains(p->out.bytes, "  park, not sampled\n");
	harness_free(p);
}

/* Truncated tables say so; all rows are available on request. */
static void test_report_shows_so_many_rows_and_says_of_how_many(void **state)
{
	struct harness_process *p = cli_run("fibertrace", "report", "--limit", "1", file, NULL);
	json_t *answer;

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "shown 1 of 2; --all shows them all\n");
	harness_free(p);
	p = cli_run("fibertrace", "report", "--all", file, NULL);
	cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, "shown "));
	harness_free(p);
	p = cli_run("fibertrace", "report", "--json", "--limit", "1", file, NULL);
	answer = json_well(p);
	assert_int_equal(json_array_size(json_object_get(answer, "stacks")), 1);
	assert_int_equal(json_int(json_object_get(answer, "counts"), "stacks"), 2);
	json_decref(answer);
	answer = json_well(cli_run("fibertrace", "report", "--json", "--limit", "0", file, NULL));
	assert_int_equal(json_array_size(json_object_get(answer, "stacks")), 0);
	assert_int_equal(json_int(json_object_get(answer, "counts"), "stacks"), 2);
	json_decref(answer);
	cli_expect_error(cli_run("fibertrace", "report", "--limit", "-1", file, NULL), 64,
			 "fibertrace", "--limit -1");
	cli_expect_error(
		cli_run("fibertrace", "record", "--stacks-every", "1ms", "-o", file, "1", NULL), 64,
		"fibertrace", "20ms or more");
	cli_expect_error(
		cli_run("fibertrace", "record", "--stacks-every", "50", "-o", file, "1", NULL), 64,
		"fibertrace", "--stacks-every 50: say the unit, as in 50ms");
}

/*
 * Two fibers yield without pause, and rings hold 256 events: nearly all events are lost, including
 * the wake-ups of a step.
 */
static void test_what_lost_events_leave_open_is_not_made_up(void **state)
{
	const json_t *totals, *passers;
	struct harness_process *p;
	json_t *answer;
	json_int_t length;

	(void)state;
	turns = cli_start(NULL, "ready ", "turns", "--yield", "2", NULL);
	start("100ms", "--ring 256");
	look();
	step("step 1");
	look();
	stop(1);
	answer = report(1);
	totals = json_object_get(answer, "totals");
	length = json_int(totals, "lengthNs");
	assert_true(json_int(answer, "lost") > 0);
	assert_true(json_is_false(json_object_get(answer, "complete")));
	assert_true(json_int(totals, "unknownNs") > 0);
	assert_true(json_int(totals, "cut") > 0);
	/* Seven fibers cannot have used more time than there was. */
	assert_true(json_int(totals, "waitingNs") + json_int(totals, "runningNs") +
			    json_int(totals, "runnableNs") + json_int(totals, "unknownNs") <=
		    7 * length);
	/* Two passers exited in the step, which ended their waits. */
	passers = row_of(answer, "functions", "function", "passer");
	assert_non_null(passers);
	assert_true(json_int(passers, "waitingNs") < PASSERS * length);
	assert_true(sum(answer, "waits", "fibersAtEnd") <= WALKERS);
	expect_sums(answer);
	json_decref(answer);
	p = cli_run("fibertrace", "report", file, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, " lost\n\n");
	cli_contains(p->out.bytes, " events were lost: what happened meanwhile is not known, for ");
	harness_free(p);
	p = cli_run("fibertrace", "report", "--html", file, NULL);
	cli_ended(p, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_wait_has_the_stack_of_its_own_place),
		cmocka_unit_test(test_wait_that_nobody_looked_at_is_not_sampled),
		cmocka_unit_test(test_report_shows_so_many_rows_and_says_of_how_many),
		cmocka_unit_test(test_what_lost_events_leave_open_is_not_made_up),
	};

	harness_watchdog(280);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
