/* SPDX-License-Identifier: MIT */
/* test_running.c - what a running fiber does, by what is known of its thread, and in words */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "inspect/model/running.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

#define USED 256

static struct ins_running running;
static struct ins_thread_stack thread;

/* A thread that sleeps in a call with its stack pointer in the fiber's stack. */
static int begin(void **state)
{
	struct ins_fiber fiber = rows_fiber(7, "it");

	(void)state;
	fiber.row.state = FIBER_RUNNING;
	fiber.row.carrier = 0;
	fiber.row.sp = fiber.row.pc = 1; /* of its last switch */
	fiber.flags = INS_FIBER_MOVING;
	ins_running_begin(&fiber, &running);
	thread = (struct ins_thread_stack){.state = FIB_WIRE_THREAD_SLEEPS, .call = SYS_nanosleep};
	thread.bytes = calloc(1, 2 * USED);
	thread.fiber.row.sp = fiber.row.stack_low + fiber.row.stack_size - USED;
	thread.fiber.row.pc = 0x400100;
	thread.fiber.stack = thread.bytes;
	thread.fiber.stack_size = 2 * USED; /* also of what is above the stack */
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_running_free(&running);
	ins_thread_stack_free(&thread);
	return 0;
}

static const char *words(void)
{
	static char text[64];

	return ins_running_words(running.doing, running.call, text, sizeof text);
}

static void test_a_fiber_in_a_call_has_the_stack_of_its_thread(void **state)
{
	(void)state;
	ins_running_take(&thread, false, &running);
	assert_string_equal(words(), "in system call nanosleep");
	assert_non_null(running.fiber.stack);
	assert_int_equal(running.fiber.stack_size, USED);
	assert_int_equal(running.fiber.row.stack_used, USED);
	assert_int_equal(running.fiber.row.pc, 0x400100);
	assert_int_equal(running.fiber.row.id, 7);
	assert_int_equal(running.fiber.flags, INS_FIBER_PAUSED);
}

static void test_a_stack_that_was_copied_in_part_is_cut(void **state)
{
	(void)state;
	thread.fiber.stack_size = USED / 2;
	ins_running_take(&thread, false, &running);
	assert_int_equal(running.fiber.flags, INS_FIBER_PAUSED | INS_FIBER_CUT);
}

static void test_a_stack_pointer_elsewhere_is_no_stack_of_the_fiber(void **state)
{
	(void)state;
	thread.fiber.row.sp = running.fiber.row.stack_low + running.fiber.row.stack_size;
	ins_running_take(&thread, false, &running);
	assert_null(running.fiber.stack);
	assert_int_equal(running.doing, INS_DOING_CALLS);
}

static void test_a_thread_that_runs_computes(void **state)
{
	(void)state;
	thread.state = FIB_WIRE_THREAD_RUNS;
	ins_running_take(&thread, false, &running);
	assert_string_equal(words(), "computing");
	assert_null(running.fiber.stack);
}

static void test_outside_of_a_call_it_waits_for_memory_unless_it_was_stopped(void **state)
{
	(void)state;
	thread.call = -1;
	ins_running_take(&thread, false, &running);
	assert_string_equal(words(), "waiting for memory");
	end(state);
	begin(state);
	thread.call = -1;
	ins_running_take(&thread, true, &running);
	assert_string_equal(words(), "computing");
}

static void test_a_thread_that_is_hidden_or_moves_says_nothing(void **state)
{
	(void)state;
	thread.state = FIB_WIRE_THREAD_HIDDEN;
	ins_running_take(&thread, false, &running);
	assert_string_equal(words(), "");
	thread.state = FIB_WIRE_THREAD_MOVED;
	ins_running_take(&thread, false, &running);
	assert_string_equal(words(), "");
}

static void test_calls_without_a_name_have_a_number_unless_it_is_unknown(void **state)
{
	(void)state;
	running.doing = INS_DOING_CALLS;
	running.call = 99999;
	assert_string_equal(words(), "in system call 99999");
	running.call = INS_THREAD_STACK_CALL_UNKNOWN;
	assert_string_equal(words(), "in a system call");
	running.call = SYS_restart_syscall;
	assert_string_equal(words(), "in a system call");
}

static int computes(struct ins_source *source, struct ins_running *ret)
{
	(void)source;
	ret->doing = INS_DOING_COMPUTES;
	return 0;
}

static void test_only_fibers_that_run_are_asked_about(void **state)
{
	static const struct ins_source_ops knows = {.running = computes}, other = {0};
	struct ins_source source = {.ops = &knows};
	struct ins_fiber fiber = rows_fiber(7, "it");
	struct ins_running is;

	(void)state;
	assert_int_equal(ins_running_read(&source, &fiber, &is), -EOPNOTSUPP);
	fiber.row.state = FIBER_RUNNING;
	assert_int_equal(ins_running_read(&source, &fiber, &is), 0);
	assert_int_equal(is.doing, INS_DOING_COMPUTES);
	fiber.flags = INS_FIBER_THREAD;
	assert_int_equal(ins_running_read(&source, &fiber, &is), -EOPNOTSUPP);
	fiber.flags = 0;
	source.ops = &other;
	assert_int_equal(ins_running_read(&source, &fiber, &is), -EOPNOTSUPP);
}

/* A registry may say that all its fibers run. */
static void test_a_reading_has_a_limited_number_of_look_ups(void **state)
{
	static const struct ins_source_ops knows = {.running = computes};
	struct ins_source source = {.ops = &knows};
	struct ins_fiber fiber = rows_fiber(7, "it");
	struct ins_running is;
	unsigned i;

	(void)state;
	fiber.row.state = FIBER_RUNNING;
	for (i = 0; i < 1024; i++)
		assert_int_equal(ins_running_read(&source, &fiber, &is), 0);
	assert_int_equal(ins_running_read(&source, &fiber, &is), -EOPNOTSUPP);
	source.looked_up = 0;
	assert_int_equal(ins_running_read(&source, &fiber, &is), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_fiber_in_a_call_has_the_stack_of_its_thread),
		TEST(test_a_stack_that_was_copied_in_part_is_cut),
		TEST(test_a_stack_pointer_elsewhere_is_no_stack_of_the_fiber),
		TEST(test_a_thread_that_runs_computes),
		TEST(test_outside_of_a_call_it_waits_for_memory_unless_it_was_stopped),
		TEST(test_a_thread_that_is_hidden_or_moves_says_nothing),
		TEST(test_calls_without_a_name_have_a_number_unless_it_is_unknown),
		TEST(test_only_fibers_that_run_are_asked_about),
		TEST(test_a_reading_has_a_limited_number_of_look_ups),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
