/* SPDX-License-Identifier: MIT */
/* test_render_account.c - the tables of a recording, for people and for scripts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inspect/render_account.h"
#include "recordings.h"
#include "tests/harness/watchdog.h"

static struct ins_recording *r;
static struct ins_replay *replay;
static struct ins_account *a;

static int setup(void **state)
{
	(void)state;
	r = made_three();
	return ins_replay_new(r, &replay) || ins_account_new(r, replay, &a);
}

static int teardown(void **state)
{
	(void)state;
	ins_account_free(a);
	ins_replay_free(replay);
	ins_recording_close(r);
	return 0;
}

static char *text(size_t rows)
{
	char *at = NULL;
	size_t size;
	FILE *out = open_memstream(&at, &size);

	assert_non_null(out);
	ins_account_text(out, r, replay, a, rows);
	assert_int_equal(fclose(out), 0);
	return at;
}

static void must_have(const char *all, const char *what)
{
	if (!strstr(all, what))
		fail_msg("\"%s\" is not in:\n%s", what, all);
}

static void test_text_has_every_table(void **state)
{
	char *all = text(10);

	(void)state;
	must_have(all, "made (process 42): 1us, 3 fibers, 12 events, 0 lost\n");
	must_have(all, "1 spawned, 1 ended, 4 turns, 3 waits, 2 wake-ups, 1 steals, 1 migrations, "
		       "0 pinned waits, 0 long runs\n");
	must_have(all, "1               0   80.0%      800ns          2\n");
	must_have(all, "       1      300ns      200ns      200ns          2  serve</script>\n");
	must_have(all, "     200ns      200ns          1        0  mutex \"lock\"@0xabc\n");
	must_have(all, "stacks, sampled once, when the recording ended");
	must_have(all, "     450ns        1  run;nap;fiber_park\n");
	assert_null(strstr(all, "were lost"));
	assert_null(strstr(all, "more\n"));
	free(all);
	all = text(1);
	must_have(all, "... and 2 more\n");
	free(all);
}

static void test_json_has_every_row(void **state)
{
	json_t *totals = ins_account_totals(a), *waits = ins_account_waits(r, a);
	json_t *functions = ins_account_functions(r, a), *stacks = ins_account_stacks(a);
	json_t *carriers = ins_account_carriers(r, a), *row;

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(totals, "runningNs")), 1000);
	assert_int_equal(json_array_size(waits), 3);
	row = json_array_get(waits, 2);
	assert_string_equal(json_string_value(json_object_get(row, "kind")), "mutex");
	assert_string_equal(json_string_value(json_object_get(row, "object")), "0xabc");
	assert_string_equal(json_string_value(json_object_get(row, "objectName")), "lock");
	assert_true(json_is_null(json_object_get(row, "fd")));
	assert_int_equal(json_array_size(functions), 3);
	assert_true(json_is_null(json_object_get(json_array_get(functions, 0), "function")));
	assert_int_equal(json_array_size(stacks), 1);
	assert_int_equal(json_array_size(carriers), 2);
	json_decref(totals);
	json_decref(waits);
	json_decref(functions);
	json_decref(stacks);
	json_decref(carriers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text_has_every_table, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json_has_every_row, setup, teardown),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
