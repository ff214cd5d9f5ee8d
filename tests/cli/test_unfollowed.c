/* SPDX-License-Identifier: MIT */
/*
 * test_unfollowed.c - "no deadlock" names the waits that it does not cover
 *
 * crowd has every kind of wait. The counts of deadlock must agree with list, for each source and
 * both tools.
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static char snapshot[HARNESS_PATH], core[HARNESS_PATH];

static int start(void **state)
{
	struct harness_process *p;

	(void)state;
	if (one_crowd("crowd", "240", NULL))
		return -1;
	p = cli_run("fiberctl", "snapshot", pid, "-o", harness_file(snapshot, "crowd.snap"), NULL);
	cli_ended(p, 0);
	/* A sanitizer's shadow makes a core of terabytes. */
	if (!*harness_sanitizer())
		cli_core(crowd.process->pid, "crowd.core", core);
	return 0;
}

static bool ends_from_outside(const char *kind)
{
	static const char *const kinds[] = {"yield", "sleep",	"fd",	 "timer",
					    "op",    "offload", "pinned"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

static bool is_null(const json_t *object, const char *key)
{
	return json_is_null(json_object_get(object, key));
}

/* Whether a fiber of list --json is in a wait with an unknown waker. */
static bool is_unfollowed(const json_t *fiber)
{
	const json_t *wait = json_object_get(fiber, "wait");
	const char *kind = json_text(wait, "kind");

	if (!json_is_object(wait) || !strcmp(json_text(fiber, "state"), "dead") ||
	    ends_from_outside(kind) || !is_null(wait, "deadlineNs"))
		return false;
	if (!strcmp(kind, "select"))
		return !is_null(wait, "object");
	return is_null(wait, "holderId") && is_null(wait, "holderThread") &&
	       is_null(wait, "targetId");
}

static json_t *expected(const char *tool, const char *who)
{
	json_t *answer = json_well(cli_run(tool, "list", who, "--json", NULL));
	json_t *counts = json_object(), *fiber;
	size_t i;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		const char *kind = json_text(json_object_get(fiber, "wait"), "kind");

		if (is_unfollowed(fiber))
			json_object_set_new(counts, kind,
					    json_integer(1 + json_integer_value(json_object_get(
								     counts, kind))));
	}
	json_decref(answer);
	return counts;
}

static void agree(const char *tool, const char *who)
{
	json_t *wanted = expected(tool, who);
	struct harness_process *p = cli_run(tool, "deadlock", who, "--json", NULL);
	json_t *answer = json_well(p), *is = json_object_get(answer, "notFollowed");
	char text[64];

	if (!json_equal(wanted, is))
		fail_msg("%s %s: %s, wanted %s", tool, who, json_dumps(is, 0),
			 json_dumps(wanted, 0));
	assert_true(json_object_size(is) >= 6);
	p = cli_run(tool, "deadlock", who, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\nno deadlock");
	cli_contains(p->out.bytes, "\nnot followed: ");
	snprintf(text, sizeof(text), " %d conditions, ", (int)json_int(is, "cond"));
	cli_contains(p->out.bytes, text);
	harness_free(p);
	json_decref(answer);
	json_decref(wanted);
}

static void test_waits_without_a_known_holder_are_counted_by_kind(void **state)
{
	(void)state;
	agree("fiberctl", pid);
	agree("fibertrace", pid);
	agree("fiberctl", snapshot);
	agree("fibertrace", snapshot);
}

static void test_waits_of_a_core_are_counted_by_kind(void **state)
{
	(void)state;
	if (!*core)
		cli_skip("no cores of sanitizer builds");
	agree("fibertrace", core);
}

static void test_a_program_that_waits_for_nothing_else_has_none(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "spin", NULL);
	const char *who = cli_number((uint64_t)p->pid);
	struct harness_process *q = cli_run("fiberctl", "deadlock", who, "--json", NULL);
	json_t *answer = json_well(q);

	(void)state;
	assert_true(json_is_object(json_object_get(answer, "notFollowed")));
	json_decref(answer);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_without_a_known_holder_are_counted_by_kind),
		cmocka_unit_test(test_waits_of_a_core_are_counted_by_kind),
		cmocka_unit_test(test_a_program_that_waits_for_nothing_else_has_none),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, NULL);
}
