/* SPDX-License-Identifier: MIT */
/* test_render_account.c - the tables of a recording, for people and for scripts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/inspect/accounted.h"
#include "inspect/render/render_account.h"
#include "tests/harness/watchdog.h"

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
	must_have(all, "1               0   80.0%    0.800us          2\n");
	must_have(all, "       1    0.300us    0.200us    0.200us          2  serve</script>\n");
	must_have(all,
		  "   0.200us    0.200us    0.200us          1        0  mutex \"lock\"@0xabc\n");
	must_have(all, "  park, in run;nap;fiber_park\n");
	must_have(all, "  sleep, not sampled\n");
	must_have(all,
		  "stacks, sampled once: 450ns of 1us waiting, 42.8%, in waits that were sampled "
		  "while they lasted\n");
	must_have(all, "   0.450us    0.450us          1        1  run;nap;fiber_park\n");
	must_have(all, "   0.600us                     2           (not sampled)\n");
	assert_null(strstr(all, "were lost"));
	assert_null(strstr(all, "shown"));
	free(all);
	all = text(1);
	must_have(all, "shown 1 of 3; --all shows them all\n");
	free(all);
}

/* The unit of the last value in a column of a table with this title; "": the table has no rows. */
static const char *unit_in(const char *all, const char *title, unsigned column, unsigned *ret_rows)
{
	static char unit[8];
	const char *line = strstr(all, title), *at;
	char word[64];
	unsigned i;

	assert_non_null(line);
	unit[0] = 0;
	*ret_rows = 0;
	for (line = strchr(line, '\n') + 1; *line && *line != '\n'; line = strchr(line, '\n') + 1) {
		for (at = line, i = 0; i <= column; i++, at += strcspn(at, " "))
			at += strspn(at, " ");
		snprintf(word, sizeof word, "%.*s", (int)(at - line), line);
		at = strrchr(word, ' ');
		at = (at ? at + 1 : word);
		at += strspn(at, "0123456789.");
		if (*ret_rows)
			assert_string_equal(unit, at);
		snprintf(unit, sizeof unit, "%s", at);
		++*ret_rows;
	}
	return unit;
}

static void test_text_has_one_unit_in_each_column(void **state)
{
	char *all;
	unsigned rows;

	(void)state;
	a->waited[1].ns = a->waited[1].most = INT64_C(7200000000); /* 7.2s */
	all = text(10);
	assert_string_equal(unit_in(all, "   WAITING     MEDIAN", 0, &rows), "ms");
	assert_true(rows > 1);
	assert_string_equal(unit_in(all, "   WAITING     MEDIAN", 1, &rows), "us");
	assert_string_equal(unit_in(all, "   WAITING     MEDIAN", 2, &rows), "ms");
	must_have(all, "7200.000ms");
	must_have(all, "    0.000ms");
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text_has_every_table, accounted_three,
						accounted_three_end),
		cmocka_unit_test_setup_teardown(test_text_has_one_unit_in_each_column,
						accounted_three, accounted_three_end),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
