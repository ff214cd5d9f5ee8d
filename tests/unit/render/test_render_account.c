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
	must_have(all, "1               0   80.0%      800ns          2\n");
	must_have(all, "       1      300ns      200ns      200ns          2  serve</script>\n");
	must_have(all,
		  "     200ns      200ns      200ns          1        0  mutex \"lock\"@0xabc\n");
	must_have(all, "  park, in run;nap;fiber_park\n");
	must_have(all, "  sleep, not sampled\n");
	must_have(all,
		  "stacks, sampled once: 450ns of 1us waiting, 42.8%, in waits that were sampled "
		  "while they lasted\n");
	must_have(all, "     450ns      450ns          1        1  run;nap;fiber_park\n");
	must_have(all, "     600ns                     2           (not sampled)\n");
	assert_null(strstr(all, "were lost"));
	assert_null(strstr(all, "shown"));
	free(all);
	all = text(1);
	must_have(all, "shown 1 of 3; --all shows them all\n");
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text_has_every_table, accounted_three,
						accounted_three_end),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
