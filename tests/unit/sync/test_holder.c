/* SPDX-License-Identifier: MIT */
/* test_holder.c - the holder of a lock, as text */
#include <stdio.h>

#include "queue.h"
#include "sync/holder.h"

static void test_holder_is_nobody_a_thread_or_a_fiber(void **state)
{
	char text[FIB_HOLDER_TEXT];

	(void)state;
	fib_holder_text(text, 0);
	assert_string_equal(text, "nobody");
	fib_holder_text(text, FIB_HOLDER_CONTENDED);
	assert_string_equal(text, "nobody");
	fib_holder_text(text, FIB_HOLDER_THREAD | 4711);
	assert_string_equal(text, "thread 4711");
	fib_holder_text(text, FIB_HOLDER_THREAD | FIB_HOLDER_CONTENDED | 4711);
	assert_string_equal(text, "thread 4711");
	fib_holder_text(text, 7);
	assert_string_equal(text, "fiber 7");
	fib_holder_text(text, 7 | FIB_HOLDER_CONTENDED);
	assert_string_equal(text, "fiber 7");
}

struct said {
	char mine[FIB_HOLDER_TEXT], contended[FIB_HOLDER_TEXT], other[FIB_HOLDER_TEXT];
	uint64_t id;
};

static void *say(void *arg)
{
	struct said *s = arg;

	fiber_set_name(fiber_self(), "worker");
	s->id = fiber_id(fiber_self());
	fib_holder_text(s->mine, fib_caller());
	fib_holder_text(s->contended, fib_caller() | FIB_HOLDER_CONTENDED);
	fib_holder_text(s->other, fib_caller() + 1);
	return NULL;
}

static void test_holder_that_is_the_caller_has_its_name(void **state)
{
	struct said s = {0};
	char expected[FIB_HOLDER_TEXT];

	(void)state;
	queue_join(queue_spawn(say, &s));
	snprintf(expected, sizeof expected, "fiber %llu \"worker\"", (unsigned long long)s.id);
	assert_string_equal(s.mine, expected);
	assert_string_equal(s.contended, expected);
	snprintf(expected, sizeof expected, "fiber %llu", (unsigned long long)s.id + 1);
	assert_string_equal(s.other, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holder_is_nobody_a_thread_or_a_fiber),
		cmocka_unit_test(test_holder_that_is_the_caller_has_its_name),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
