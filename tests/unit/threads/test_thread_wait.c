/* SPDX-License-Identifier: MIT */
/* test_thread_wait.c - what a thread waits for, by its system call */
#include "inspect/model/words.h"
#include "inspect/threads/thread_wait.h"
#include "tests/harness/inspect/asleep.h"

static struct ins_source source = {.memory = asleep_memory};
static struct ins_thread_at at;
static const struct ins_sleeper sleeper = {.source = &source, .at = &at, .now = 5};
static struct fib_row row;

static void find(int64_t call, uint64_t first, uint64_t second, uint64_t third)
{
	row = (struct fib_row){.deadline = INT64_MAX};
	at = (struct ins_thread_at){.call = call, .argument = {first, second, third}};
	ins_thread_wait(&sleeper, &row);
}

static void test_a_sleep_has_a_deadline(void **state)
{
	struct timespec time = {3, 0};
	const uint64_t address = (uint64_t)(uintptr_t)&time;

	(void)state;
	find(SYS_nanosleep, address, 0, 0);
	assert_int_equal(row.wait_kind, FIB_WAIT_SLEEP);
	assert_int_equal(row.deadline, 5 + INT64_C(3000000000));
	find(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, address);
	assert_int_equal(row.deadline, 5 + INT64_C(3000000000));
	/* Long ago. */
	find(SYS_clock_nanosleep, CLOCK_MONOTONIC, 1, address);
	assert_int_equal(row.wait_kind, FIB_WAIT_SLEEP);
	assert_true(row.deadline < 5 + INT64_C(3000000000));
}

static void test_another_call_is_named(void **state)
{
	(void)state;
	find(SYS_wait4, 1, 2, 3);
	assert_int_equal(row.wait_kind, INS_WAIT_CALL);
	assert_string_equal(row.object_name, "wait4");
	find(123456, 1, 2, 3);
	assert_int_equal(row.wait_kind, INS_WAIT_CALL);
	assert_string_equal(row.object_name, "123456");
}

static void test_a_thread_in_no_call_waits_for_nothing(void **state)
{
	(void)state;
	find(-1, 1, 2, 3);
	assert_int_equal(row.wait_kind, FIB_WAIT_NONE);
}

static void test_a_read_waits_for_its_descriptor(void **state)
{
	(void)state;
	find(SYS_read, 6, 2, 3);
	assert_int_equal(row.wait_kind, FIB_WAIT_FD);
}

static void test_only_a_futex_needs_the_stack(void **state)
{
	(void)state;
	at.call = SYS_futex;
	assert_true(ins_thread_wait_needs_walk(&at));
	at.call = SYS_read;
	assert_false(ins_thread_wait_needs_walk(&at));
	at.call = -1;
	assert_false(ins_thread_wait_needs_walk(&at));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sleep_has_a_deadline),
		cmocka_unit_test(test_another_call_is_named),
		cmocka_unit_test(test_a_thread_in_no_call_waits_for_nothing),
		cmocka_unit_test(test_a_read_waits_for_its_descriptor),
		cmocka_unit_test(test_only_a_futex_needs_the_stack),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
