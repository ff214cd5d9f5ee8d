/* SPDX-License-Identifier: MIT */
/*
 * test_generic_port.c - a program built with the port for unsupported machines
 *
 * Its fibers, waits and holders are shown as usual. Its stacks cannot be walked: each tool says so
 * and why, and that the answer is partial.
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

#define REASON "stacks of port \"generic\" cannot be walked yet"

static int start(void **state)
{
	char program[HARNESS_PATH];

	(void)state;
	snprintf(program, sizeof(program), "%s/generic/bin/crowd", harness_build());
	return one_crowd(program, "66", NULL);
}

/* The tool shows the wait that crowd printed. */
static void check_wait(const json_t *fiber, const struct crowd_member *m)
{
	const json_t *const wait = json_object_get(fiber, "wait");

	if (!strcmp(m->kind, "created") || !strcmp(m->kind, "dead")) {
		assert_string_equal(json_text(fiber, "state"), m->kind);
		assert_true(json_is_null(wait));
		return;
	}
	assert_string_equal(json_text(fiber, "state"), "suspended");
	assert_string_equal(json_text(wait, "kind"), m->kind);
	if (!strcmp(m->kind, "mutex"))
		assert_string_equal(json_text(wait, "objectName"), m->object);
	if (!strcmp(m->kind, "join"))
		assert_string_equal(cli_number((uint64_t)json_int(wait, "targetId")), m->object);
	if (!strcmp(m->kind, "fd"))
		assert_string_equal(cli_number((uint64_t)json_int(wait, "fd")), m->object);
	if (!strncmp(m->holder, "thread:", 7))
		assert_string_equal(cli_number((uint64_t)json_int(wait, "holderThread")),
				    m->holder + 7);
	else if (strcmp(m->holder, "-"))
		assert_string_equal(cli_number((uint64_t)json_int(wait, "holderId")), m->holder);
}

static void check_fibers(const json_t *answer, const char *source, bool frames)
{
	json_promise_answer(answer, source);
	assert_int_equal(json_int(answer, "total"), crowd.count);
	for (size_t i = 0; i < crowd.count; i++) {
		const struct crowd_member *const m = &crowd.members[i];
		const json_t *const fiber = json_fiber(answer, m->id);

		assert_non_null(fiber);
		json_promise_fiber(fiber, frames);
		assert_string_equal(json_text(fiber, "name"), m->name);
		check_wait(fiber, m);
		if (!frames)
			continue;
		assert_int_equal(json_array_size(json_object_get(fiber, "frames")), 0);
		/* An exited fiber has no stack, so nothing is missing. */
		assert_int_equal(json_is_true(json_object_get(fiber, "truncated")),
				 strcmp(m->kind, "dead") != 0);
	}
}

static void check_partial(const json_t *answer)
{
	const json_t *const problems = json_object_get(answer, "problems");
	const json_t *problem;
	size_t i, named = 0;

	assert_true(json_is_false(json_object_get(answer, "complete")));
	json_array_foreach (problems, i, problem)
		named += strstr(json_string_value(problem), REASON) != NULL;
	assert_int_equal(named, 1);
}

static void test_generic_list_is_complete(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, "--json", NULL);
	json_t *answer = json_well(p);

	(void)state;
	check_fibers(answer, "control", false);
	assert_true(json_is_true(json_object_get(answer, "complete")));
	json_decref(answer);
}

static void test_generic_bt_says_that_it_cannot_walk(void **state)
{
	const struct crowd_member *m = crowd_find(&crowd, "mutex", "mutex-1");
	struct harness_process *p = cli_run("fiberctl", "bt", pid, cli_number(m->id), NULL);
	char header[256];

	(void)state;
	cli_expect(p, 1);
	snprintf(header, sizeof(header), "fiber %s \"%s\" [suspended: mutex \"%s\" held by %s, ",
		 cli_number(m->id), m->name, m->object, m->holder);
	cli_contains(p->out.bytes, header);
	cli_contains(p->out.bytes, "  truncated: " REASON);
	cli_contains(p->out.bytes, "incomplete: ");
	assert_null(strstr(p->out.bytes, "#0"));
	harness_free(p);
	p = cli_run("fiberctl", "bt", pid, "--all", "--json", NULL);
	cli_expect(p, 1);
	json_t *const answer = json_answer(p);
	check_fibers(answer, "control", true);
	check_partial(answer);
	json_decref(answer);
	harness_free(p);
}

static void test_generic_trace_lists_fibers_and_says_that_it_cannot_walk(void **state)
{
	struct harness_process *p = cli_run("fibertrace", pid, "--json", "--each", NULL);
	json_t *answer;

	(void)state;
	cli_expect(p, 1);
	answer = json_answer(p);
	check_fibers(answer, "live", true);
	check_partial(answer);
	json_decref(answer);
	harness_free(p);
	p = cli_run("fibertrace", pid, "--each", NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "  truncated: " REASON);
	cli_contains(p->out.bytes, "66 of 66 fibers");
	harness_free(p);
}

static void test_generic_trace_groups_by_wait(void **state)
{
	struct harness_process *p = cli_run("fibertrace", pid, "--json", NULL);
	const json_t *group;
	json_t *answer;
	json_int_t members = 0;
	size_t i;

	(void)state;
	cli_expect(p, 1);
	answer = json_answer(p);
	json_promise_answer(answer, "live");
	check_partial(answer);
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		json_promise(group, "group", JSON_GROUP);
		assert_int_equal(json_array_size(json_object_get(group, "frames")), 0);
		members += json_int(group, "count");
	}
	assert_int_equal(members, crowd.count);
	json_decref(answer);
	harness_free(p);
	p = cli_run("fibertrace", pid, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, REASON);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generic_list_is_complete),
		cmocka_unit_test(test_generic_bt_says_that_it_cannot_walk),
		cmocka_unit_test(test_generic_trace_lists_fibers_and_says_that_it_cannot_walk),
		cmocka_unit_test(test_generic_trace_groups_by_wait),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
