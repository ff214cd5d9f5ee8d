/* SPDX-License-Identifier: MIT */
/* test_futex.c - the object behind a futex, without a stack that says more */
#include <linux/futex.h>

#include "inspect/model/words.h"
#include "inspect/threads/futex.h"
#include "tests/harness/inspect/asleep.h"

static struct ins_source source = {.memory = asleep_memory};
static struct ins_walk walk;
static struct ins_thread_at at;
static const struct ins_sleeper sleeper = {
	.source = &source, .at = &at, .walk = &walk, .now = 1000};
static struct fib_row row;
static uint32_t word;

static void find(int operation, uint32_t value, const struct timespec *timeout)
{
	row = (struct fib_row){.deadline = INT64_MAX};
	at = (struct ins_thread_at){.call = SYS_futex,
				    .argument = {(uint64_t)(uintptr_t)&word, (uint64_t)operation,
						 value, (uint64_t)(uintptr_t)timeout}};
	ins_futex_wait(&sleeper, &row);
}

static void test_a_futex_that_no_function_explains_stays_a_futex(void **state)
{
	(void)state;
	find(FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, NULL);
	assert_int_equal(row.wait_kind, FIB_WAIT_FUTEX);
	assert_int_equal(row.wait_object, (uint64_t)(uintptr_t)&word);
	assert_int_equal(row.holder, 0);
	assert_int_equal(row.deadline, INT64_MAX);
}

static void test_the_kernel_names_the_holder_of_a_lock_with_inheritance(void **state)
{
	static const int calls[] = {FUTEX_LOCK_PI, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG,
				    13 | FUTEX_PRIVATE_FLAG};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		word = FUTEX_WAITERS | 66;
		find(calls[i], 0, NULL);
		assert_int_equal(row.wait_kind, FIB_WAIT_MUTEX);
		assert_int_equal(row.holder, FIB_HOLDER_THREAD | 66);
		word |= FUTEX_OWNER_DIED;
		find(calls[i], 0, NULL);
		assert_int_equal(row.holder, 0);
	}
}

static void test_a_timeout_is_relative_or_absolute_as_the_call_says(void **state)
{
	const struct timespec second = {1, 0};

	(void)state;
	find(FUTEX_WAIT, 2, &second);
	assert_int_equal(row.deadline, 1000 + INT64_C(1000000000));
	/* One second after the epoch has long passed. */
	find(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 2, &second);
	assert_true(row.deadline < 0);
	find(FUTEX_LOCK_PI, 2, &second);
	assert_true(row.deadline < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_futex_that_no_function_explains_stays_a_futex),
		cmocka_unit_test(test_the_kernel_names_the_holder_of_a_lock_with_inheritance),
		cmocka_unit_test(test_a_timeout_is_relative_or_absolute_as_the_call_says),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
