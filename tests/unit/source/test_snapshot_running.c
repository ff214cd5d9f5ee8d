/* SPDX-License-Identifier: MIT */
/* test_snapshot_running.c - which rows of threads in a snapshot say what a running fiber did */
#include <string.h>

#include "inspect/source/snapshot_running.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"
#include "wire/wire.h"

static struct {
	struct fib_wire_stack s;
	struct fib_row row;
	unsigned char stack[64];
} sent;
static struct ins_running running;

/* A thread that slept on the fiber's stack all the time. */
static int begin(void **state)
{
	struct ins_fiber fiber = rows_fiber(7, "it");

	(void)state;
	memset(&sent, 0, sizeof sent);
	sent.s.row_size = sizeof sent.row;
	sent.s.stack_size = sizeof sent.stack;
	sent.row.id = FIB_HOLDER_THREAD | 70;
	sent.row.state = FIBER_SUSPENDED;
	sent.row.age = 1000;
	sent.row.sp = fiber.row.stack_low + fiber.row.stack_size - sizeof sent.stack;
	sent.row.pc = 0x400100;
	memset(sent.stack, 0x55, sizeof sent.stack);
	fiber.row.state = FIBER_RUNNING;
	ins_running_begin(&fiber, &running);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_running_free(&running);
	return 0;
}

static int take(void)
{
	return ins_snapshot_running_take(&sent, sizeof sent, &running);
}

static void test_a_thread_that_slept_on_its_stack_is_in_a_call_of_the_fiber(void **state)
{
	(void)state;
	assert_int_equal(take(), 1);
	assert_int_equal(running.doing, INS_DOING_CALLS);
	assert_int_equal(running.call, INS_THREAD_STACK_CALL_UNKNOWN);
	assert_int_equal(running.fiber.row.pc, 0x400100);
	assert_memory_equal(running.fiber.stack, sent.stack, sizeof sent.stack);
}

static void test_a_thread_that_may_have_moved_says_nothing(void **state)
{
	(void)state;
	sent.row.age = 0;
	assert_int_equal(take(), 0);
	assert_int_equal(running.doing, INS_DOING_UNKNOWN);
	assert_null(running.fiber.stack);
}

static void test_a_thread_on_another_stack_says_nothing(void **state)
{
	(void)state;
	sent.row.sp += sizeof sent.stack;
	assert_int_equal(take(), 0);
}

static void test_frames_that_lie_about_their_sizes_say_nothing(void **state)
{
	(void)state;
	sent.s.stack_size++;
	assert_int_equal(take(), 0);
	sent.s.row_size = UINT32_MAX;
	assert_int_equal(take(), 0);
	assert_int_equal(ins_snapshot_running_take(&sent, 3, &running), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_thread_that_slept_on_its_stack_is_in_a_call_of_the_fiber),
		TEST(test_a_thread_that_may_have_moved_says_nothing),
		TEST(test_a_thread_on_another_stack_says_nothing),
		TEST(test_frames_that_lie_about_their_sizes_say_nothing),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
