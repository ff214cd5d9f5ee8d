/* SPDX-License-Identifier: MIT */
/* test_core_running.c - what a fiber did that ran when a core was written */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "inspect/corefile/core_running.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

static struct ins_core core;
static struct ins_core_status threads[2];
static struct ins_source source;
static struct ins_running running;
static unsigned char stack[8192] __attribute__((aligned(4096))); /* of the fiber */

/* Nothing but the stack of the fiber is in the core. */
static int own_memory(void *from, uint64_t address, void *buf, size_t size)
{
	const uint64_t at = address - (uint64_t)(uintptr_t)stack;

	(void)from;
	if (at >= sizeof stack || size > sizeof stack - at)
		return -EFAULT;
	memcpy(buf, stack + at, size);
	return 0;
}

static int begin(void **state)
{
	struct ins_fiber fiber = rows_fiber(7, "it");

	(void)state;
	memset(threads, 0, sizeof threads);
	threads[0].tid = 70;
	threads[0].call = SYS_futex;
	threads[0].home = threads[0].registers.sp = 4096;
	threads[1].tid = 71;
	threads[1].call = SYS_read;
	threads[1].home = threads[1].registers.sp = (uint64_t)(uintptr_t)stack + 7000;
	threads[1].registers.pc = 0x400100;
	core = (struct ins_core){.pid = 70, .thread = threads, .threads = 2};
	source = (struct ins_source){.memory = own_memory};
	fiber.row.state = FIBER_RUNNING;
	fiber.row.stack_low = (uint64_t)(uintptr_t)stack;
	fiber.row.stack_size = sizeof stack;
	ins_running_begin(&fiber, &running);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_running_free(&running);
	return 0;
}

static void look(void)
{
	assert_int_equal(ins_core_running(&source, &core, &running), 0);
}

static void test_a_fiber_whose_thread_was_in_a_call(void **state)
{
	(void)state;
	look();
	assert_int_equal(running.doing, INS_DOING_CALLS);
	assert_int_equal(running.call, SYS_read);
	assert_int_equal(running.fiber.row.pc, 0x400100);
	assert_int_equal(running.fiber.stack_size, sizeof stack - 7000);
}

static void test_a_fiber_whose_thread_was_in_none_computed(void **state)
{
	(void)state;
	threads[1].call = -1;
	look();
	assert_int_equal(running.doing, INS_DOING_COMPUTES);
}

/* Its number of a call is that of the one that raised the signal. */
static void test_a_fiber_that_a_signal_ended_was_in_no_call(void **state)
{
	(void)state;
	core.crash.signal = SIGABRT;
	core.crash.thread = 71;
	look();
	assert_int_equal(running.doing, INS_DOING_COMPUTES);
}

static void test_on_a_machine_whose_calls_are_unknown_nothing_is_said(void **state)
{
	(void)state;
	threads[1].call = INS_THREAD_STACK_CALL_UNKNOWN;
	look();
	assert_int_equal(running.doing, INS_DOING_UNKNOWN);
	assert_non_null(running.fiber.stack);
}

static void test_a_fiber_on_whose_stack_no_thread_was_is_not_known(void **state)
{
	(void)state;
	core.threads = 1;
	look();
	assert_int_equal(running.doing, INS_DOING_UNKNOWN);
	assert_null(running.fiber.stack);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_fiber_whose_thread_was_in_a_call),
		TEST(test_a_fiber_whose_thread_was_in_none_computed),
		TEST(test_a_fiber_that_a_signal_ended_was_in_no_call),
		TEST(test_on_a_machine_whose_calls_are_unknown_nothing_is_said),
		TEST(test_a_fiber_on_whose_stack_no_thread_was_is_not_known),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
