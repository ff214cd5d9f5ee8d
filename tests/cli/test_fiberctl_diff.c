/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_diff.c - fibers that came, went or never moved between snapshots of a known program
 *
 * Four snapshots of drift: two before its first step, one after it and one after the second.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define NEVER 9 /* holder, 5 stuck, 3 hung */

static struct harness_process *drift;
static char pid[16], files[4][HARNESS_PATH];
static json_t *first; /* the fibers of the first snapshot */

static void take(unsigned i)
{
	char name[16];
	struct harness_process *p;

	snprintf(name, sizeof(name), "%u.snap", i);
	p = cli_run("fiberctl", "snapshot", pid, "-o", harness_file(files[i], name), NULL);
	cli_ended(p, 0);
}

static void step(const char *line)
{
	assert_int_equal(kill(drift->pid, SIGUSR1), 0);
	assert_non_null(harness_wait_line(drift, line, CLI_SECONDS));
}

static int start(void **state)
{
	(void)state;
	drift = cli_start(NULL, "ready ", "drift", NULL);
	snprintf(pid, sizeof(pid), "%d", drift->pid);
	take(0);
	take(1);
	step("step 1");
	take(2);
	step("step 2");
	take(3);
	first = json_well(cli_run("fiberctl", "list", files[0], "--json", NULL));
	return 0;
}

static int stop(void **state)
{
	(void)state;
	json_decref(first);
	harness_free(drift);
	return 0;
}

static json_t *diff(const char *a, const char *b, const char *c)
{
	json_t *answer = json_well(cli_run("fiberctl", "diff", "--json", a, b, c, NULL));

	json_promise_answer(answer, "snapshot");
	json_promise(answer, "diff",
		     "stuck:a stuckCount:i new:a newCount:i gone:a goneCount:i snapshots:a");
	return answer;
}

/* The number of rows whose names begin with prefix. */
static unsigned named(const json_t *rows, const char *prefix)
{
	const json_t *row;
	unsigned n = 0;
	size_t i;

	json_array_foreach (rows, i, row)
		n += !strncmp(json_text(row, "name"), prefix, strlen(prefix));
	return n;
}

/* The group whose samples include the fiber of the first snapshot with that name, or NULL. */
static const json_t *group_of(const json_t *answer, const char *name)
{
	const json_t *row, *group, *id;
	json_int_t wanted = 0;
	size_t i, k;

	json_array_foreach (json_object_get(first, "fibers"), i, row)
		if (!strcmp(json_text(row, "name"), name))
			wanted = json_int(row, "id");
	assert_true(wanted > 0);
	json_array_foreach (json_object_get(answer, "stuck"), i, group) {
		json_promise(group, "group", JSON_GROUP);
		json_array_foreach (json_object_get(group, "fiberIds"), k, id)
			if (json_integer_value(id) == wanted)
				return group;
	}
	return NULL;
}

static bool has_frame(const json_t *group, const char *function)
{
	const json_t *frame;
	size_t i;

	json_array_foreach (json_object_get(group, "frames"), i, frame)
		if (!strcmp(json_text(frame, "function"), function))
			return true;
	return false;
}

/* Each row has the function that list prints for its snapshot. */
static void test_diff_names_the_functions_of_those_that_came_and_went(void **state)
{
	static const char *const keys[] = {"new", "gone"};
	json_t *answer = diff(files[0], files[3], NULL);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		json_t *list =
			json_well(cli_run("fiberctl", "list", files[i ? 0 : 3], "--json", NULL));
		const json_t *row = json_array_get(json_object_get(answer, keys[i]), 0);
		const json_t *same = json_fiber(list, (uint64_t)json_int(row, "id"));

		assert_true(json_text(row, "entry")[0]);
		assert_string_equal(json_text(row, "entry"), json_text(same, "entry"));
		assert_true(json_text(json_object_get(row, "spawn"), "function")[0]);
		assert_true(
			json_equal(json_object_get(row, "spawn"), json_object_get(same, "spawn")));
		json_decref(list);
	}
	json_decref(answer);
}

static void test_diff_finds_what_came_and_what_went(void **state)
{
	json_t *answer = diff(files[0], files[3], NULL);
	const json_t *of = json_object_get(answer, "snapshots");

	(void)state;
	assert_int_equal(json_int(json_array_get(of, 0), "laterNs"), 0);
	assert_true(json_int(json_array_get(of, 1), "laterNs") > 0);
	assert_int_equal(json_array_size(json_object_get(answer, "new")), 6);
	assert_int_equal(named(json_object_get(answer, "new"), "new-"), 6);
	assert_int_equal(json_array_size(json_object_get(answer, "gone")), 4);
	assert_int_equal(named(json_object_get(answer, "gone"), "leaver-"), 4);
	json_promise_fiber(json_array_get(json_object_get(answer, "gone"), 0), false);
	json_decref(answer);
	answer = diff(files[2], files[3], NULL);
	assert_int_equal(named(json_object_get(answer, "new"), "new-"), 3);
	assert_int_equal(named(json_object_get(answer, "gone"), "leaver-"), 2);
	json_decref(answer);
}

static void test_diff_of_three_has_only_those_stuck_in_all_of_them(void **state)
{
	json_t *answer = diff(files[0], files[2], files[3]);
	const json_t *stuck = group_of(answer, "stuck-0"), *hung = group_of(answer, "hung-0");
	const json_t *rows = json_object_get(answer, "stuck");

	(void)state;
	/* Two leavers have not left yet. */
	assert_int_equal(json_int(answer, "stuckCount"), NEVER + 2);
	assert_int_equal(json_int(stuck, "count"), 5);
	assert_string_equal(json_text(json_object_get(stuck, "wait"), "kind"), "mutex");
	assert_true(has_frame(stuck, "locker"));
	assert_true(json_int(json_object_get(stuck, "ageNs"), "min") > 0);
	assert_int_equal(json_int(hung, "count"), 5);
	assert_ptr_equal(group_of(answer, "leaver-4"), hung);
	assert_true(has_frame(hung, "waiter"));
	assert_int_equal(json_int(group_of(answer, "holder-0"), "count"), 1);
	assert_null(group_of(answer, "mover-0"));
	assert_null(group_of(answer, "late-0"));
	assert_null(group_of(answer, "leaver-0"));
	for (size_t i = 1; i < json_array_size(rows); i++)
		assert_true(json_int(json_array_get(rows, i), "count") <=
			    json_int(json_array_get(rows, i - 1), "count"));
	json_decref(answer);
}

static void test_diff_knows_who_came_back_to_the_same_place(void **state)
{
	/*
	 * If no fiber moved, all are stuck. A mover that moved is at the same place again, but not
	 * stuck.
	 */
	json_t *still = diff(files[0], files[1], NULL), *moved = diff(files[1], files[2], NULL);

	(void)state;
	assert_int_equal(json_int(still, "stuckCount"), json_int(still, "total"));
	assert_non_null(group_of(still, "mover-0"));
	assert_int_equal(json_int(moved, "stuckCount"), NEVER + 2 + 4);
	assert_null(group_of(moved, "mover-0"));
	assert_non_null(group_of(moved, "late-0"));
	json_decref(still);
	json_decref(moved);
}

static void test_diff_says_it_in_text(void **state)
{
	struct harness_process *p =
		cli_run("fiberctl", "diff", files[0], files[2], files[3], "--limit", "4", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "6 new:\n  fiber ");
	cli_contains(p->out.bytes, "\"new-0\" [suspended: event");
	cli_contains(p->out.bytes, "  and 2 more\n4 gone:\n  fiber ");
	cli_contains(p->out.bytes, "11 stuck\n");
	cli_contains(p->out.bytes, "5 fibers [suspended: mutex");
	cli_contains(p->out.bytes, " locker");
	cli_contains(p->out.bytes, "; snapshot of ");
	harness_free(p);
}

static void test_diff_limit_leaves_out_rows_and_counts_all(void **state)
{
	static const json_int_t limits[] = {0, 1, 5};
	struct harness_process *p =
		cli_run("fiberctl", "diff", files[0], files[3], "--limit", "0", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\n6 new\n4 gone\n11 stuck\n");
	harness_free(p);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		json_t *answer =
			json_well(cli_run("fiberctl", "diff", files[0], files[3], "--json",
					  "--limit", cli_number((uint64_t)limits[i]), NULL));

		assert_int_equal(json_array_size(json_object_get(answer, "new")), limits[i]);
		assert_int_equal(json_int(answer, "newCount"), 6);
		assert_int_equal(json_array_size(json_object_get(answer, "gone")),
				 limits[i] < 4 ? limits[i] : 4);
		assert_int_equal(json_int(answer, "goneCount"), 4);
		json_decref(answer);
	}
}

static void test_diff_takes_the_process_itself_as_the_last(void **state)
{
	json_t *answer =
		json_well(cli_run("fiberctl", "diff", "--json", files[0], files[3], pid, NULL));

	(void)state;
	assert_string_equal(json_text(answer, "source"), "control");
	assert_int_equal(json_int(answer, "stuckCount"), NEVER + 2);
	json_decref(answer);
}

static void test_diff_refuses_what_cannot_be_compared(void **state)
{
	struct crowd other = crowd_start(NULL, "crowd", "3", NULL);
	char file[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	cli_expect_error(cli_run("fiberctl", "diff", files[3], files[0], NULL), 2, "fiberctl",
			 "was taken before");
	p = cli_run("fiberctl", "snapshot", cli_number((uint64_t)other.process->pid), "-o",
		    harness_file(file, "other.snap"), NULL);
	cli_ended(p, 0);
	cli_expect_error(cli_run("fiberctl", "diff", files[0], file, NULL), 2, "fiberctl",
			 "another process");
	cli_expect_error(cli_run("fiberctl", "diff", files[0], "/nonexistent/x.snap", NULL), 2,
			 "fiberctl", "/nonexistent/x.snap");
	cli_expect_error(cli_run("fiberctl", "diff", files[0], NULL), 64, "fiberctl", "A B");
	crowd_end(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff_finds_what_came_and_what_went),
		cmocka_unit_test(test_diff_names_the_functions_of_those_that_came_and_went),
		cmocka_unit_test(test_diff_of_three_has_only_those_stuck_in_all_of_them),
		cmocka_unit_test(test_diff_knows_who_came_back_to_the_same_place),
		cmocka_unit_test(test_diff_says_it_in_text),
		cmocka_unit_test(test_diff_limit_leaves_out_rows_and_counts_all),
		cmocka_unit_test(test_diff_takes_the_process_itself_as_the_last),
		cmocka_unit_test(test_diff_refuses_what_cannot_be_compared),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}
