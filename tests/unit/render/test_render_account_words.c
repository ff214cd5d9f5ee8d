/* SPDX-License-Identifier: MIT */
/* test_render_account_words.c - names of rows of waits */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/inspect/accounted.h"
#include "inspect/render/render_account.h"
#include "tests/harness/watchdog.h"

static void expect(struct ins_waited row, const char *words)
{
	char text[256];

	assert_string_equal(ins_account_for(r, &row, text, sizeof text), words);
}

static void test_row_is_called_by_what_was_waited_for(void **state)
{
	(void)state;
	expect((struct ins_waited){.kind = FIB_WAIT_MUTEX, .object = 0xabc, .objects = 1},
	       "mutex \"lock\"@0xabc");
	expect((struct ins_waited){.kind = FIB_WAIT_MUTEX, .object = 0xdef, .objects = 1},
	       "mutex@0xdef");
	expect((struct ins_waited){.kind = FIB_WAIT_MUTEX, .object = 0xdef, .objects = 4},
	       "mutex, 4 objects");
	expect((struct ins_waited){.kind = FIB_WAIT_SLEEP}, "sleep");
	expect((struct ins_waited){.kind = FIB_WAIT_FD, .arg = 9, .objects = 1}, "fd 9");
	expect(
		(struct ins_waited){
			.kind = FIB_WAIT_FD, .arg = 9, .ways = FIB_EVENT_WRITE, .objects = 1},
		"fd 9 write");
	expect((struct ins_waited){.kind = FIB_WAIT_FD, .ways = FIB_EVENT_READ, .objects = 9998},
	       "fd read, 9998 descriptors");
	expect((struct ins_waited){.kind = FIB_WAIT_JOIN, .object = 1, .objects = 1},
	       "join 1 \"one\"");
	expect((struct ins_waited){.kind = FIB_WAIT_JOIN, .object = 1, .objects = 30},
	       "join, 30 fibers");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_row_is_called_by_what_was_waited_for,
						accounted_three, accounted_three_end),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
