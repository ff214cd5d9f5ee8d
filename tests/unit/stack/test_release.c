/* SPDX-License-Identifier: MIT */
/* test_release.c - free stacks give back all their memory, and can be taken again */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "os/os.h"
#include "stack/guard.h"
#include "stack/pool.h"
#include "stack/release.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

#define CLASS  1u /* 32 KiB */
#define SOME   200u
#define SPLITS 8192u
#define ROUNDS 2000u

static struct fib_stack_class class;
static struct fib_stack stacks[SOME];

static void use(const struct fib_stack *stack)
{
	memset(stack->low, 1, stack->size);
}

static bool faults(const char *at)
{
	char byte;

	return fib_os_peek((uint64_t)(uintptr_t)at, &byte, 1) == -EFAULT;
}

static size_t resident(const struct fib_stack *stack)
{
	return fib_os_resident_in((uint64_t)(uintptr_t)stack->low, stack->size);
}

static void fill(void)
{
	memset(&class, 0, sizeof class);
	for (unsigned i = 0; i < SOME; i++) {
		assert_int_equal(fib_class_cut(&class, CLASS, &stacks[i]), 0);
		use(&stacks[i]);
	}
	/* In an order that is not that of the addresses. */
	for (unsigned i = 0; i < SOME; i++)
		fib_class_push(&class, &stacks[i * 7 % SOME]);
}

static void empty(unsigned n)
{
	struct fib_stack got[SOME];

	for (unsigned i = 0; i < n; i++) {
		fib_class_pop(&class, &got[i]);
		fib_class_guard_waiting(&got[i], 1);
		assert_int_equal(fib_stack_guard(&got[i]), FIB_STACK_GUARD);
		assert_true(faults((char *)got[i].low - 1));
		assert_true(faults((char *)got[i].low - FIB_STACK_GUARD));
		assert_false(faults(got[i].low));
		use(&got[i]);
		for (unsigned k = 0; k < i; k++)
			assert_ptr_not_equal(got[k].low, got[i].low);
	}
	assert_int_equal(class.count, SOME - n);
}

static unsigned default_guards(unsigned small)
{
	return small + FIB_CLASS_SIZES * 4; /* FIB_GUARD_MIN << 4 */
}

static void test_release_drops_all_pages_and_says_how_many(void **state)
{
	(void)state;
	fill();
	assert_int_equal(fib_class_release(&class), SOME * fib_class_size(CLASS));
	assert_int_equal(class.count, SOME);
	assert_int_equal(class.cold, SOME);
	for (unsigned i = 0; i < SOME; i++)
		assert_int_equal(resident(&stacks[i]), 0);
	assert_int_equal(fib_class_release(&class), 0);
}

static void test_release_does_not_count_pages_that_are_locked(void **state)
{
	(void)state;
	/* A sanitizer's memory cannot be locked. */
	if (harness_sanitizer()[0])
		skip();
	fill();
	assert_int_equal(mlock(stacks[3].low, stacks[3].size), 0);
	assert_int_equal(fib_class_release(&class), (SOME - 1) * fib_class_size(CLASS));
	assert_int_equal(resident(&stacks[3]), stacks[3].size);
	assert_int_equal(munlock(stacks[3].low, stacks[3].size), 0);
}

/* From here on guards stay inside their mappings, if the kernel can make such. */
static void make_guards_stay(void)
{
	struct fib_stack stack;

	for (unsigned i = 0; i < SPLITS + 100 && !fib_guard_stays_inside(); i++)
		assert_int_equal(fib_stack_take(NULL, FIB_STACK_DEFAULT, &stack), 0);
	if (!fib_guard_stays_inside())
		skip();
}

static void fill_default(void)
{
	const unsigned number = default_guards(CLASS);

	memset(&class, 0, sizeof class);
	for (unsigned i = 0; i < SOME; i++) {
		assert_int_equal(fib_class_cut(&class, number, &stacks[i]), 0);
		use(&stacks[i]);
	}
	for (unsigned i = 0; i < SOME; i++)
		fib_class_push(&class, &stacks[i * 7 % SOME]);
}

static void test_release_takes_guards_away_until_the_next_take(void **state)
{
	unsigned bare = 0, i;

	(void)state;
	make_guards_stay();
	fill_default();
	assert_int_equal(fib_class_release(&class), SOME * fib_class_size(CLASS));
	assert_int_equal(class.count, SOME);
	assert_int_equal(class.cold, SOME);
	for (i = 0; i < SOME; i++)
		bare += class.free[i].guard == 0;
	assert_int_equal(bare, SOME);
	empty(SOME);
}

static void test_release_leaves_promised_stacks_their_guards(void **state)
{
	unsigned bare = 0, i;

	(void)state;
	make_guards_stay();
	fill_default();
	class.promised = SOME - 50;
	fib_class_release(&class);
	assert_int_equal(class.count, SOME);
	for (i = 0; i < SOME; i++)
		bare += class.free[i].guard == 0;
	assert_in_range(bare, 0, 50);
	empty(SOME);
	class.promised = 0;
}

static void test_release_again_and_again_loses_no_stack(void **state)
{
	unsigned i;

	(void)state;
	make_guards_stay();
	fill_default();
	for (i = 0; i < 5; i++) {
		struct fib_stack got[3];

		fib_class_release(&class);
		for (unsigned k = 0; k < 3; k++)
			fib_class_pop(&class, &got[k]);
		for (unsigned k = 0; k < 3; k++)
			fib_class_push(&class, &got[k]);
	}
	assert_int_equal(class.count, SOME);
	empty(SOME);
}

/* -- beside threads that take and give -- */

static _Atomic uint32_t stop, wrong;

static void *take_and_give(void *arg)
{
	struct fib_stack mine[8];

	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned n = round % 8 + 1;

		for (unsigned i = 0; i < n; i++) {
			if (fib_stack_take(NULL, FIB_STACK_DEFAULT, &mine[i]) < 0)
				fib_add(&wrong, 1);
			*(unsigned char *)mine[i].low = (unsigned char)(i + round);
			if (!faults((char *)mine[i].low - 1))
				fib_add(&wrong, 1);
		}
		for (unsigned i = 0; i < n; i++) {
			if (*(unsigned char *)mine[i].low != (unsigned char)(i + round))
				fib_add(&wrong, 1);
			fib_stack_give(NULL, &mine[i]);
		}
	}
	return arg;
}

static void *release(void *arg)
{
	while (!fib_load(&stop))
		fib_stack_release();
	return arg;
}

static void test_release_beside_threads_that_take_stacks(void **state)
{
	pthread_t threads[3];
	unsigned i;

	(void)state;
	make_guards_stay();
	fib_store(&stop, 0);
	assert_int_equal(pthread_create(&threads[2], NULL, release, NULL), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	fib_store(&stop, 1);
	pthread_join(threads[2], NULL);
	assert_int_equal(fib_load(&wrong), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release_drops_all_pages_and_says_how_many),
		cmocka_unit_test(test_release_does_not_count_pages_that_are_locked),
		cmocka_unit_test(test_release_takes_guards_away_until_the_next_take),
		cmocka_unit_test(test_release_leaves_promised_stacks_their_guards),
		cmocka_unit_test(test_release_again_and_again_loses_no_stack),
		cmocka_unit_test(test_release_beside_threads_that_take_stacks),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
