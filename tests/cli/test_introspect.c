/* SPDX-License-Identifier: MIT */
/* test_introspect.c - introspection in the program agrees with fiberctl */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define COLUMNS 19
#define FIBERS	11

enum column {
	ID,
	PARENT,
	NAME,
	STATE,
	KIND,
	OBJECT,
	OBJECT_NAME,
	HOLDER,
	THREAD,
	TARGET,
	FD,
	DEADLINE,
	SWITCHES,
	CPU,
	PINS,
	SIZE,
	USED,
	HIGH,
	SPAWN
};

static struct harness_process *mirror;
static char *lines[FIBERS + 1];
static size_t count;

static int start_mirror(void **state)
{
	char *at;

	(void)state;
	mirror = cli_start(NULL, "ready ", "mirror", NULL);
	at = strdup(mirror->out.bytes);
	for (at = strtok(at, "\n"); at && strchr(at, '\t') && count <= FIBERS;
	     at = strtok(NULL, "\n"))
		lines[count++] = at;
	return count == FIBERS ? 0 : -1;
}

static int end_mirror(void **state)
{
	(void)state;
	harness_free(mirror);
	return 0;
}

static void split(const char *line, char columns[COLUMNS][64])
{
	int i;

	for (i = 0; i < COLUMNS; i++) {
		size_t n = strcspn(line, "\t");

		assert_true(n < 64);
		memcpy(columns[i], line, n);
		columns[i][n] = '\0';
		line += n + (line[n] != '\0');
	}
}

/* Compare a number. The tools print null where the program has `none`. */
static void same_number(const char *what, const char *own, const json_t *object, const char *key,
			int64_t none)
{
	const json_int_t said = json_int(object, key);
	const int64_t mine = strtoll(own, NULL, 10);

	if (said != (mine == none ? -1 : mine)) {
		print_error("%s: the program says %s, the tool %" JSON_INTEGER_FORMAT "\n", what,
			    own, said);
		fail();
	}
}

/* "-" and 0x0 mean no value. */
static void same_text(const char *own, const char *said)
{
	assert_string_equal(!strcmp(own, "-") || !strcmp(own, "0x0") ? "" : own, said);
}

static void same_wait(char own[COLUMNS][64], const json_t *wait)
{
	if (!strcmp(own[KIND], "none")) {
		assert_true(json_is_null(wait));
		return;
	}
	assert_string_equal(own[KIND], json_text(wait, "kind"));
	same_text(own[OBJECT], json_text(wait, "object"));
	same_text(own[OBJECT_NAME], json_text(wait, "objectName"));
	same_number("holderId", own[HOLDER], wait, "holderId", 0);
	same_number("holderThread", own[THREAD], wait, "holderThread", 0);
	same_number("targetId", own[TARGET], wait, "targetId", 0);
	same_number("fd", own[FD], wait, "fd", -1);
	same_number("deadlineNs", own[DEADLINE], wait, "deadlineNs", INT64_MAX);
}

static void same_fiber(const char *line, const json_t *answer)
{
	static const char *const states[] = {"created", "runnable", "running", "suspended", "dead"};
	char own[COLUMNS][64];
	const json_t *fiber, *stack;

	split(line, own);
	fiber = json_fiber(answer, strtoull(own[ID], NULL, 10));
	assert_non_null(fiber);
	stack = json_object_get(fiber, "stack");
	same_number("parentId", own[PARENT], fiber, "parentId", -1);
	same_text(own[NAME], json_text(fiber, "name"));
	assert_string_equal(states[atoi(own[STATE])], json_text(fiber, "state"));
	same_number("switches", own[SWITCHES], fiber, "switches", -1);
	same_number("cpuNs", own[CPU], fiber, "cpuNs", -1);
	same_number("pins", own[PINS], fiber, "pins", -1);
	assert_true(json_is_null(json_object_get(fiber, "carrier")));
	same_number("size", own[SIZE], stack, "size", -1);
	same_number("used", own[USED], stack, "used", -1);
	same_number("highWater", own[HIGH], stack, "highWater", 0);
	same_text(own[SPAWN], json_text(json_object_get(fiber, "spawn"), "pc"));
	same_wait(own, json_object_get(fiber, "wait"));
}

static void same_fibers(struct harness_process *p)
{
	json_t *answer = json_well(p);

	assert_int_equal(json_int(answer, "total"), FIBERS);
	for (size_t i = 0; i < count; i++)
		same_fiber(lines[i], answer);
	json_decref(answer);
}

static void test_introspect_says_what_fiberctl_list_says(void **state)
{
	(void)state;
	same_fibers(cli_run("fiberctl", "list", cli_number((uint64_t)mirror->pid), "--json", NULL));
}

static void test_introspect_sees_every_kind_it_started(void **state)
{
	static const char *const kinds[] = {"park", "mutex", "sleep", "sem", "join", "fd", "none"};
	char own[COLUMNS][64];
	size_t i, k, found[7] = {0}, by_thread = 0;

	(void)state;
	for (i = 0; i < count; i++) {
		split(lines[i], own);
		for (k = 0; k < 7; k++)
			found[k] += !strcmp(own[KIND], kinds[k]);
		by_thread += !strcmp(own[THREAD], cli_number((uint64_t)mirror->pid));
	}
	assert_int_equal(found[0], 1);
	assert_int_equal(found[1], 3);
	assert_int_equal(found[2], 2);
	assert_int_equal(found[3], 1);
	assert_int_equal(found[4], 2);
	assert_int_equal(found[5], 1);
	assert_int_equal(found[6], 1);
	assert_int_equal(by_thread, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_introspect_says_what_fiberctl_list_says),
		cmocka_unit_test(test_introspect_sees_every_kind_it_started),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, start_mirror, end_mirror);
}
