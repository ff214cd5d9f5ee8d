/* SPDX-License-Identifier: MIT */
/* test_fibertrace_leaks_core.c - a snapshot confirms the lost fibers of a core, if the two belong together */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct harness_process *start(const char *kind)
{
	return cli_start(NULL, "ready ", "leaks", kind, NULL);
}

/* Its root says "ready" before it sleeps. A fiber that runs makes a snapshot incomplete. */
static bool rests(void *pid)
{
	json_t *answer = json_ended(
		cli_run("fiberctl", "list", pid, "--where", "state=running", "--json", NULL), 0);
	const bool ret = json_int(answer, "shown") == 0;

	json_decref(answer);
	return ret;
}

static void snapshot(pid_t pid, const char *name, char *path)
{
	char text[24];

	snprintf(text, sizeof text, "%d", (int)pid);
	assert_true(harness_until(rests, text, 30));
	cli_ended(cli_run("fiberctl", "snapshot", cli_number((uint64_t)pid), "-o",
			  harness_file(path, name), "--force", NULL),
		  0);
}

static json_t *ask(const char *core, const char *snap)
{
	json_t *answer =
		json_ended(cli_run("fibertrace", "leaks", snap, "--core", core, "--json", NULL), 1);

	json_promise(answer, "answer",
		     JSON_ANSWER
		     " groups:a found:i lost:i unsure:i cancellable:i parked:i moved:i snapshot:o? "
		     "stopped:b looks:i readBytes:i tookNs:i");
	return answer;
}

static void expect_refused(const char *core, const char *snap, const char *what)
{
	cli_expect_error(cli_run("fibertrace", "leaks", snap, "--core", core, NULL), 2,
			 "fibertrace", what);
}

static void test_what_a_core_shows_is_confirmed_by_an_older_snapshot(void **state)
{
	struct harness_process *p = start("all"), *q;
	char snap[HARNESS_PATH], core[HARNESS_PATH];
	json_t *alone, *answer;

	(void)state;
	snapshot(p->pid, "before.snap", snap);
	cli_core(p->pid, "leaks.core", core);
	alone = json_ended(cli_run("fibertrace", "leaks", core, "--json", NULL), 1);
	answer = ask(core, snap);
	assert_true(json_int(answer, "unsure") > 0);
	assert_int_equal(json_int(answer, "unsure"), json_int(alone, "unsure"));
	assert_int_equal(json_int(answer, "found"), json_int(alone, "found"));
	assert_int_equal(json_int(answer, "moved"), 0);
	assert_true(json_is_null(json_object_get(alone, "snapshot")));
	assert_true(json_int(json_object_get(answer, "snapshot"), "takenNs") > 0);
	json_decref(answer);
	json_decref(alone);
	/* The words in the order in which --core puts them. */
	q = cli_run("fibertrace", "leaks", core, snap, NULL);
	cli_expect(q, 1);
	cli_contains(q->out.bytes, "\n  confirmed by a snapshot of ");
	cli_contains(q->out.bytes, ": all waited so already then\n");
	harness_free(q);
	harness_free(p);
}

/* Whether a process has that many lost fibers. */
struct losing {
	pid_t pid;
	json_int_t lost;
};

static bool has_lost(void *context)
{
	const struct losing *l = context;
	struct harness_process *p = cli_run("fibertrace", "leaks", cli_number((uint64_t)l->pid),
					    "--stop", "--json", NULL);
	json_t *answer = json_ended(p, 3);
	const bool ret = json_int(answer, "lost") == l->lost;

	json_decref(answer);
	return ret;
}

static void test_a_fiber_that_moved_between_the_two_is_left_out(void **state)
{
	struct harness_process *p = start("later"), *q;
	struct losing losing = {p->pid, 2};
	char snap[HARNESS_PATH], core[HARNESS_PATH];
	const json_t *group;
	json_t *answer;

	(void)state;
	snapshot(p->pid, "before.snap", snap);
	assert_int_equal(kill(p->pid, SIGUSR1), 0);
	assert_true(harness_until(has_lost, &losing, 30));
	cli_core(p->pid, "later.core", core);
	answer = json_ended(cli_run("fibertrace", "leaks", core, "--json", NULL), 1);
	assert_int_equal(json_int(answer, "unsure"), 2);
	json_decref(answer);
	answer = ask(core, snap);
	assert_int_equal(json_int(answer, "unsure"), 1);
	assert_int_equal(json_int(answer, "moved"), 1);
	group = json_array_get(json_object_get(answer, "groups"), 0);
	assert_string_equal(json_text(group, "wait"), "sem");
	json_decref(answer);
	q = cli_run("fibertrace", "leaks", snap, "--core", core, NULL);
	cli_expect(q, 1);
	cli_contains(q->out.bytes,
		     "not counted: 1 that did not wait so when the snapshot was taken");
	harness_free(q);
	harness_free(p);
}

static void test_a_snapshot_of_another_process_is_refused(void **state)
{
	struct harness_process *p = start("sem"), *q = start("sem");
	char snap[HARNESS_PATH], core[HARNESS_PATH];

	(void)state;
	snapshot(p->pid, "other.snap", snap);
	cli_core(q->pid, "leaks.core", core);
	expect_refused(core, snap,
		       "is of another process than the core; give a snapshot that 'fiberctl "
		       "snapshot' took of process ");
	harness_free(q);
	harness_free(p);
}

/* The process has rested since the core, so that only the times of the files tell the order. */
static void test_a_snapshot_that_is_younger_is_refused_also_of_a_process_at_rest(void **state)
{
	struct harness_process *p = start("sem");
	char snap[HARNESS_PATH], core[HARNESS_PATH];

	(void)state;
	cli_core(p->pid, "leaks.core", core);
	snapshot(p->pid, "after.snap", snap);
	expect_refused(core, snap, "was taken after the core; give a snapshot from before it");
	harness_free(p);
}

/* Here the core was copied since, and fibers tell the order. */
static void test_a_snapshot_that_is_younger_is_refused_also_if_the_core_was_copied(void **state)
{
	static const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
	struct harness_process *p = start("later");
	struct losing losing = {p->pid, 2};
	char snap[HARNESS_PATH], core[HARNESS_PATH];

	(void)state;
	cli_core(p->pid, "later.core", core);
	assert_int_equal(kill(p->pid, SIGUSR1), 0);
	assert_true(harness_until(has_lost, &losing, 30));
	snapshot(p->pid, "after.snap", snap);
	assert_int_equal(utimensat(AT_FDCWD, core, now, 0), 0);
	expect_refused(core, snap, "was taken after the core; give a snapshot from before it");
	harness_free(p);
}

static void test_a_damaged_snapshot_is_refused(void **state)
{
	struct harness_process *p = start("sem");
	char snap[HARNESS_PATH], core[HARNESS_PATH];
	FILE *file;

	(void)state;
	snapshot(p->pid, "damaged.snap", snap);
	cli_core(p->pid, "leaks.core", core);
	file = fopen(snap, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, 5000, SEEK_SET), 0);
	assert_int_equal(fwrite("damage", 1, 6, file), 6);
	assert_int_equal(fclose(file), 0);
	expect_refused(core, snap, "damaged.snap: is damaged");
	/* A core is no snapshot. */
	expect_refused(core, core, "leaks.core: ");
	harness_free(p);
}

static void test_only_a_core_is_confirmed_and_nothing_stopped(void **state)
{
	struct harness_process *p = start("sem");
	const char *who = cli_number((uint64_t)p->pid);
	char snap[HARNESS_PATH], core[HARNESS_PATH];

	(void)state;
	snapshot(p->pid, "before.snap", snap);
	cli_core(p->pid, "leaks.core", core);
	cli_expect_error(cli_run("fibertrace", "leaks", who, snap, NULL), 64, "fibertrace",
			 "a snapshot confirms only what a core shows: give the core with --core");
	cli_expect_error(cli_run("fibertrace", "leaks", snap, "--core", core, "--stop", NULL), 64,
			 "fibertrace", "--stop: only a process can be stopped");
	cli_expect_error(cli_run("fibertrace", "leaks", snap, NULL), 2, "fibertrace",
			 "a snapshot has no memory of the program: give the process or its core to "
			 "fibertrace");
	harness_free(p);
}

static void test_memory_is_searched(void **state)
{
	(void)state;
	cli_skip("a sanitizer has a malloc() of its own, and its shadow takes minutes to read");
}

int main(void)
{
	const struct CMUnitTest sanitized[] = {
		cmocka_unit_test(test_memory_is_searched),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_core_shows_is_confirmed_by_an_older_snapshot),
		cmocka_unit_test(test_a_fiber_that_moved_between_the_two_is_left_out),
		cmocka_unit_test(test_a_snapshot_of_another_process_is_refused),
		cmocka_unit_test(
			test_a_snapshot_that_is_younger_is_refused_also_of_a_process_at_rest),
		cmocka_unit_test(
			test_a_snapshot_that_is_younger_is_refused_also_if_the_core_was_copied),
		cmocka_unit_test(test_a_damaged_snapshot_is_refused),
		cmocka_unit_test(test_only_a_core_is_confirmed_and_nothing_stopped),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (*harness_sanitizer())
		return cmocka_run_group_tests(sanitized, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
