/* SPDX-License-Identifier: MIT */
/* test_event_walk.c - an event without a copied stack has no frames, and gives the reason */
#include <string.h>

#include "inspect/unwind/event_walk.h"
#include "tests/harness/inspect/head.h"

static struct {
	struct fib_wire_event e;
} sent;
static struct ins_event event;

static void test_a_stack_that_was_not_copied_says_why(void **state)
{
	struct ins_walk walk;

	(void)state;
	sent.e.stack_size = 0;
	sent.e.lack = FIB_WIRE_LACK_SIGNAL;
	assert_true(ins_event_take(&sent, sizeof sent.e, &event));
	ins_event_walk(NULL, &event, &walk);
	assert_int_equal(walk.count, 0);
	assert_false(walk.truncated);
	assert_non_null(strstr(walk.reason, "SIGURG"));
	sent.e.lack = 500;
	assert_true(ins_event_take(&sent, sizeof sent.e, &event));
	ins_event_walk(NULL, &event, &walk);
	assert_string_equal(walk.reason, "its stack was not copied");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stack_that_was_not_copied_says_why),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
