/* SPDX-License-Identifier: MIT */
/*
 * test_hostile_registry.c - a false registry costs neither time nor memory of its process
 *
 * fixtures/liar has one false value at a time. fibertrace ends, says what it omits or refuses, and
 * the process does not grow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_program.h"
#include "tests/harness/clock.h"
#include "tests/harness/watchdog.h"

#define SECONDS	 20
#define MORE_KIB 1024 /* allowed growth of a process */

static long kib(const char *key)
{
	char path[64], line[256];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)program->pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (value < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			value = strtol(line + strlen(key) + 1, NULL, 10);
	fclose(f);
	assert_true(value >= 0);
	return value;
}

/*
 * Without a control socket: its thread reads the records too, soon after the start, and on some
 * kernels memory that is only read counts as the process's.
 */
static void lie(const char *which)
{
	static const char *const off[] = {"FIBER_CONTROL=off", NULL};
	const struct harness_how how = {.env = off};

	program = cli_start(&how, "ready ", "liar", which, NULL);
	pid = cli_number((uint64_t)program->pid);
}

/*
 * Run a fibertrace command on the process. Assert that it ends in time and the process has not
 * grown.
 */
static struct harness_process *look(const char *command, const char *option, const char *value)
{
	const long before = kib("VmRSS") + kib("VmPTE");
	char path[HARNESS_PATH];
	const char *const argv[] = {
		harness_program(path, "fibertrace"), command, pid, option, value, NULL};
	const int64_t began = harness_now();
	struct harness_process *p = harness_run(argv, NULL, SECONDS);

	/* A bound: no patience with a slow machine. */
	assert_true(harness_now() - began < SECONDS * INT64_C(1000000000));
	assert_in_range(kib("VmRSS") + kib("VmPTE") - before + MORE_KIB, 0, 2 * MORE_KIB);
	return p;
}

static void expect(struct harness_process *p, int code, const char *said)
{
	cli_expect(p, code);
	cli_contains(code == 2 ? p->err.bytes : p->out.bytes, said);
	harness_free(p);
}

static void test_shared_memory_without_end_is_given_up(void **state)
{
	static const char *const kinds[] = {"shared", "anonymous"};

	for (size_t i = 0; i < 2; i++) {
		json_t *answer;
		struct harness_process *p;

		lie(kinds[i]);
		expect(look("list", NULL, NULL), 1, "gave up after ");
		expect(look("list", NULL, NULL), 1, "shown 2 of 2 fibers");
		expect(look("stacks", NULL, NULL), 1, "gave up after ");
		expect(look("deadlock", NULL, NULL), 1, "gave up after ");
		p = look("list", "--json", NULL);
		cli_expect(p, 1);
		answer = json_answer(p);
		assert_true(json_is_false(json_object_get(answer, "complete")));
		cli_contains(
			json_string_value(json_array_get(json_object_get(answer, "problems"), 0)),
			"gave up after ");
		json_decref(answer);
		harness_free(p);
		end(state);
	}
}

static void test_private_memory_that_was_never_written_holds_no_fiber(void **state)
{
	static const char *const kinds[] = {"private", "file"};

	for (size_t i = 0; i < 2; i++) {
		lie(kinds[i]);
		expect(look("list", NULL, NULL), 0, "shown 2 of 2 fibers");
		expect(look("stacks", NULL, NULL), 0, "shown 2 of 2 fibers");
		end(state);
	}
}

static void test_fibers_far_apart_are_all_found(void **state)
{
	(void)state;
	lie("scattered");
	expect(look("list", "--limit", "1"), 0, "shown 1 of 1000 fibers");
}

static void test_stacks_that_overlap_are_not_all_copied(void **state)
{
	(void)state;
	lie("overlapping");
	expect(look("list", "--columns", "all"), 0, " of 10000 fibers");
	expect(look("stacks", NULL, NULL), 1,
	       "together they claim more memory than the process has");
}

static void test_stacks_that_were_never_touched_are_not_read(void **state)
{
	(void)state;
	lie("untouched");
	expect(look("stacks", NULL, NULL), 1, "its stack could not be read");
}

static void test_objects_and_labels_that_were_never_written_are_not_read(void **state)
{
	(void)state;
	lie("objects");
	expect(look("list", "--limit", "1"), 1, "fibers wait for could not be read");
	expect(look("stacks", NULL, NULL), 1, "fibers could not be read");
	expect(look("waits", NULL, NULL), 1, "fibers could not be read");
}

static void test_records_where_none_can_be_are_an_error(void **state)
{
	static const char *const lies[][2] = {
		{"wrapping", "cannot be read: none of 4294967296"},
		{"unmapped", "cannot be read: none of 4294967296"},
		{"size-zero", "impossible record size"},
		{"size-huge", "impossible record size"},
		{"count-wraps", "impossible number of records"},
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		lie(lies[i][0]);
		expect(look("list", NULL, NULL), 2, lies[i][1]);
		end(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_shared_memory_without_end_is_given_up, end),
		cmocka_unit_test_teardown(test_private_memory_that_was_never_written_holds_no_fiber,
					  end),
		cmocka_unit_test_teardown(test_fibers_far_apart_are_all_found, end),
		cmocka_unit_test_teardown(test_stacks_that_overlap_are_not_all_copied, end),
		cmocka_unit_test_teardown(test_stacks_that_were_never_touched_are_not_read, end),
		cmocka_unit_test_teardown(
			test_objects_and_labels_that_were_never_written_are_not_read, end),
		cmocka_unit_test_teardown(test_records_where_none_can_be_are_an_error, end),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
