/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_record.c - record a program that does a known number of things
 *
 * Nothing in drift changes except when a step is requested, and it reports the end of the step. So
 * a recording over a step has known contents: four fibers are woken and wait again, two exit and
 * three are spawned.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/step.h"
#include "tests/harness/watchdog.h"

enum { MOVERS = 4, LEAVE = 2, COME = 3, FIBERS = 21 };

static char file[HARNESS_PATH];

static json_t *report(const char *path, int code)
{
	return json_ended(cli_run("fibertrace", "report", "--json", path, NULL), code);
}

static json_t *row_of(const json_t *answer, const char *table, const char *key, const char *value)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(answer, table), i, row)
		if (strcmp(json_text(row, key), value) == 0)
			return row;
	return NULL;
}

static void test_recording_of_a_step_has_what_was_done(void **state)
{
	struct harness_process *drift, *p = step_record(file, &drift);
	json_t *answer, *totals, *row, *list;

	(void)state;
	cli_contains(p->out.bytes, " 0 lost, 22 fibers at the end");
	harness_free(p);

	answer = report(file, 0);
	json_promise(answer, "answer",
		     JSON_ANSWER " lost:i totals:o carriers:a functions:a waits:a stacks:a");
	assert_string_equal(json_text(answer, "source"), "recording");
	assert_int_equal(json_int(answer, "pid"), drift->pid);
	totals = json_object_get(answer, "totals");
	json_promise(totals, "totals",
		     "runningNs:i runnableNs:i runnableMostNs:i waitingNs:i waitingMostNs:i "
		     "pinnedNs:i turns:i waits:i lengthNs:i fibers:i spawned:i ended:i wakeups:i "
		     "steals:i migrations:i pinnedWaits:i longRuns:i");
	assert_int_equal(json_int(totals, "spawned"), COME);
	assert_int_equal(json_int(totals, "ended"), LEAVE);
	assert_int_equal(json_int(totals, "wakeups"), MOVERS + LEAVE);
	assert_int_equal(json_int(totals, "turns"), MOVERS + LEAVE + COME);
	assert_int_equal(json_int(totals, "fibers"), FIBERS + COME);

	/* The table of functions counts all fibers. */
	row = row_of(answer, "functions", "function", "mover");
	assert_non_null(row);
	assert_int_equal(json_int(row, "fibers"), MOVERS + 2);
	assert_int_equal(json_int(row, "turns"), MOVERS);
	row = row_of(answer, "functions", "function", "locker");
	assert_non_null(row);
	assert_int_equal(json_int(row, "fibers"), 5);
	assert_int_equal(json_int(row, "turns"), 0);
	/* Five fibers wait for the mutex during the whole recording. */
	assert_true(json_int(row, "waitingNs") >= 5 * json_int(totals, "lengthNs") - 5000000);

	/* The waits have the places that list prints. */
	row = row_of(answer, "waits", "kind", "mutex");
	assert_non_null(row);
	assert_int_equal(json_int(row, "fibersAtEnd"), 5);
	assert_int_equal(json_int(row, "waits"), 5);
	row = json_array_get(json_object_get(answer, "stacks"), 0);
	json_promise(row, "stack", "stack:s fibers:i waitingNs:i");
	p = cli_run("fiberctl", "list", cli_number((uint64_t)drift->pid), "--json", NULL);
	list = json_well(p);
	assert_int_equal(json_int(list, "total"), FIBERS + COME - LEAVE);
	json_decref(list);
	json_decref(answer);
	harness_free(drift);
}

static void test_recording_leaves_the_program_as_it_was(void **state)
{
	struct harness_process *drift, *p = step_record(file, &drift);
	const char *const pid = cli_number((uint64_t)drift->pid);
	struct stat st;
	json_t *answer, *audit;

	(void)state;
	harness_free(p);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	p = cli_run("fiberctl", "audit", pid, "--json", NULL);
	answer = json_well(p);
	audit = json_object_get(answer, "audit");
	assert_int_equal(json_array_size(audit), 2);
	assert_string_equal(json_text(json_array_get(audit, 0), "what"), "record");
	assert_int_equal(json_int(json_array_get(audit, 0), "before"), 0);
	assert_int_equal(json_int(json_array_get(audit, 0), "after"), 131072);
	assert_int_equal(json_int(json_array_get(audit, 1), "after"), 0);
	json_decref(answer);
	/* With --force a recording can be repeated into the same file. */
	p = cli_run("fibertrace", "record", "--for", "50ms", "--force", "-o", file, pid, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, ": 0 events, 0 lost, 22 fibers at the end");
	harness_free(p);
	harness_free(drift);
}

/* Standard output has only the answer; the progress messages are on standard error. */
static void test_recording_answers_in_json_what_was_recorded(void **state)
{
	struct harness_process *drift = cli_start(NULL, "ready ", "drift", NULL), *p;
	json_t *answer, *recording, *told;
	struct stat st;

	(void)state;
	p = cli_run("fibertrace", "record", "--json", "--for", "50ms", "-o",
		    harness_file(file, "json.rec"), cli_number((uint64_t)drift->pid), NULL);
	cli_expect(p, 0);
	cli_contains(p->err.bytes, "recording: Ctrl-C ends it\n");
	answer = json_answer(p);
	harness_free(p);
	json_promise(answer, "answer", JSON_ANSWER " recording:o");
	assert_string_equal(json_text(answer, "source"), "control");
	assert_int_equal(json_int(answer, "pid"), drift->pid);
	assert_int_equal(json_int(answer, "total"), FIBERS);
	recording = json_object_get(answer, "recording");
	json_promise(recording, "recording",
		     "file:s bytes:i durationNs:i events:i lost:i stackSamples:i");
	assert_string_equal(json_text(recording, "file"), file);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(json_int(recording, "bytes"), st.st_size);
	assert_true(json_int(recording, "durationNs") > 0);
	told = report(file, 0);
	assert_int_equal(json_int(json_object_get(told, "totals"), "lengthNs"),
			 json_int(recording, "durationNs"));
	assert_int_equal(json_array_size(json_object_get(told, "looks")),
			 json_int(recording, "stackSamples"));
	assert_int_equal(json_int(recording, "events"), 0);
	assert_int_equal(json_int(recording, "lost"), 0);
	json_decref(told);
	json_decref(answer);
	harness_free(drift);
}

/*
 * Wait until at least `many` fibers exist and all wait for a descriptor: the server may not have
 * accepted every connection yet.
 */
struct idlers {
	const char *pid;
	unsigned many;
};

static bool all_wait(void *arg)
{
	const struct idlers *idlers = arg;
	struct harness_process *p = cli_run("fiberctl", "list", idlers->pid, "--json", NULL);
	json_t *answer = json_answer(p), *row;
	size_t i, n = 0, all;

	json_array_foreach (json_object_get(answer, "fibers"), i, row)
		n += strcmp(json_text(json_object_get(row, "wait"), "kind"), "fd") == 0;
	all = json_array_size(json_object_get(answer, "fibers"));
	json_decref(answer);
	harness_free(p);
	return n >= idlers->many && n == all;
}

/* Many idle connections are one row; the snapshot has what each waits for. */
static void test_idle_descriptors_are_one_row(void **state)
{
	unsigned port;
	struct harness_process *httpd = http_start(NULL, NULL, NULL, &port), *p;
	struct harness_process *idle =
		cli_start(NULL, "open 500", "idle", "500", "--port", cli_number(port), NULL);
	struct idlers idlers = {cli_number((uint64_t)httpd->pid), 500};
	json_t *answer, *row;
	size_t i;

	(void)state;
	assert_true(harness_until(all_wait, &idlers, CLI_SECONDS));
	p = cli_run("fibertrace", "record", "--for", "200ms", "--force", "-o",
		    harness_file(file, "idle.rec"), idlers.pid, NULL);
	cli_ended(p, 0);
	answer = report(file, 0);
	assert_in_range(json_array_size(json_object_get(answer, "waits")), 1, 6);
	json_array_foreach (json_object_get(answer, "waits"), i, row)
		if (json_int(row, "objects") >= 500)
			break;
	assert_true(i < json_array_size(json_object_get(answer, "waits")));
	assert_string_equal(json_text(row, "kind"), "fd");
	assert_string_equal(json_text(row, "events"), "read");
	assert_true(json_is_null(json_object_get(row, "fd")));
	assert_true(json_int(row, "medianNs") > 0);
	assert_int_equal(json_int(row, "fibersAtEnd"), json_int(row, "objects"));
	assert_non_null(strstr(json_text(row, "stack"), ";converse;"));
	cli_contains(json_text(row, "for"), "fd read, 5");
	json_decref(answer);
	harness_free(idle);
	harness_free(httpd);
}

/*
 * A fiber that yields without pause fills a ring within microseconds of CPU time, even on a busy
 * machine.
 */
static void test_recording_counts_what_does_not_fit_into_the_rings(void **state)
{
	struct harness_process *turns = cli_start(NULL, "ready ", "turns", "--yield", "4", NULL),
			       *p;
	json_t *answer, *row;
	json_int_t lost = 0;
	size_t i;

	(void)state;
	p = cli_run("fibertrace", "record", "--for", "500ms", "--ring", "256", "--force", "-o",
		    harness_file(file, "small.rec"), cli_number((uint64_t)turns->pid), NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, " events were lost: a larger --ring loses fewer");
	harness_free(p);
	answer = report(file, 1);
	assert_true(json_is_false(json_object_get(answer, "complete")));
	json_array_foreach (json_object_get(answer, "carriers"), i, row)
		lost += json_int(row, "lostEvents");
	assert_true(lost > 0);
	assert_true(json_int(answer, "lost") >= lost);
	json_decref(answer);
	p = cli_run("fibertrace", "report", file, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "events were lost: what happened meanwhile");
	harness_free(p);
	harness_free(turns);
}

static void test_recording_survives_the_end_of_the_program(void **state)
{
	struct harness_process *drift = cli_start(NULL, "ready ", "drift", NULL), *p;

	(void)state;
	p = cli_start(NULL, "recording", "fibertrace", "record", "--for", "60s", "-o",
		      harness_file(file, "ended.rec"), cli_number((uint64_t)drift->pid), NULL);
	harness_free(drift);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "problem: the process ended");
	harness_free(p);
	json_decref(report(file, 0));
}

static void test_recording_is_refused_with_a_reason(void **state)
{
	static const char *const env[] = {"FIBER_CONTROL=ro", NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *drift = cli_start(&how, "ready ", "drift", NULL), *p;
	const char *const pid = cli_number((uint64_t)drift->pid);

	(void)state;
	harness_file(file, "refused.rec");
	cli_expect_error(cli_run("fibertrace", "record", "-o", file, pid, NULL), 2, "fibertrace",
			 "FIBER_CONTROL=ro");
	assert_int_equal(access(file, F_OK), -1);
	cli_expect_error(cli_run("fibertrace", "record", "-o", file, "999999999", NULL), 2,
			 "fibertrace", "no such process");
	cli_expect_error(cli_run("fibertrace", "record", pid, NULL), 64, "fibertrace", "-o FILE");
	cli_expect_error(cli_run("fibertrace", "record", "-o", file, NULL), 64, "fibertrace",
			 "needs PROCESS -o FILE");
	cli_expect_error(cli_run("fibertrace", "record", "--for", "soon", "-o", file, pid, NULL),
			 64, "fibertrace", "soon");
	cli_expect_error(cli_run("fibertrace", "report", file, NULL), 2, "fibertrace",
			 "No such file");
	cli_expect_error(cli_run("fibertrace", "report", "/proc/self/exe", NULL), 2, "fibertrace",
			 "is no recording");
	harness_free(drift);

	drift = cli_start(NULL, "ready ", "drift", NULL);
	p = cli_start(NULL, "recording", "fibertrace", "record", "--for", "60s", "-o", file,
		      cli_number((uint64_t)drift->pid), NULL);
	cli_expect_error(cli_run("fibertrace", "record", "--force", "-o", file,
				 cli_number((uint64_t)drift->pid), NULL),
			 2, "fibertrace", "somebody records already");
	harness_free(p);
	harness_free(drift);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recording_of_a_step_has_what_was_done),
		cmocka_unit_test(test_recording_leaves_the_program_as_it_was),
		cmocka_unit_test(test_recording_answers_in_json_what_was_recorded),
		cmocka_unit_test(test_idle_descriptors_are_one_row),
		cmocka_unit_test(test_recording_counts_what_does_not_fit_into_the_rings),
		cmocka_unit_test(test_recording_survives_the_end_of_the_program),
		cmocka_unit_test(test_recording_is_refused_with_a_reason),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
