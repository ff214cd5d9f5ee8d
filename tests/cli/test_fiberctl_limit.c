/* SPDX-License-Identifier: MIT */
/* test_fiberctl_limit.c - a limit omits later rows, 0 omits all; totals count everything */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static int start(void **state)
{
	(void)state;
	return one_crowd("deadlock", "--crossing", "--self");
}

static struct harness_process *ask(const char *command, const char *limit, const char *a,
				   const char *b, const char *c)
{
	return cli_run("fiberctl", command, pid, "--limit", limit, a, b, c, NULL);
}

/* Check the text and the rows of a command with limits 0 and 1. */
static void limited(const char *command, const char *a, const char *b, const char *shown)
{
	static const char *const rows[] = {"fibers", "groups", "holders"};
	struct harness_process *p = ask(command, "0", a, b, NULL);
	json_t *none, *one;
	size_t i, there = 0;

	cli_expect(p, 0);
	cli_contains(p->out.bytes, shown);
	harness_free(p);
	none = json_well(ask(command, "0", "--json", a, b));
	one = json_well(ask(command, "1", "--json", a, b));
	assert_int_equal(json_int(none, "total"), crowd.count);
	assert_int_equal(json_int(one, "total"), crowd.count);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const json_t *array = json_object_get(none, rows[i]);

		there += array != NULL;
		assert_int_equal(json_array_size(array), 0);
		assert_int_equal(json_array_size(json_object_get(one, rows[i])), array != NULL);
	}
	assert_true(there > 0);
	json_decref(none);
	json_decref(one);
}

static void test_limit_0_shows_none_of_all_with_every_command(void **state)
{
	static const char *const answers[] = {"list", "tree", "top"};
	char none[64], more[128];

	(void)state;
	snprintf(none, sizeof(none), "\nshown 0 of %zu fibers, ", crowd.count);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		limited(answers[i], strcmp(answers[i], "top") ? NULL : "--once", NULL, none);
	limited("list", "--sort", "-age", none);
	limited("list", "--group-by", "state", "\nshown 0 of 1 value of state\n");
	limited("waits", NULL, NULL, "shown 0 of 3 holders");
	snprintf(more, sizeof(more), "; %zu more match: --all shows them\n", crowd.count);
	limited("list", NULL, NULL, more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit_0_shows_none_of_all_with_every_command),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
