/* SPDX-License-Identifier: MIT */
/* test_slabs.c - every address of a slab is known as guard or stack, while slabs are added */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "base/atomic.h"
#include "stack/class.h"
#include "stack/pool.h"
#include "stack/slabs.h"
#include "tests/harness/watchdog.h"

#define MANY	 1000u /* several blocks of the table */
#define STRIDE	 ((size_t)20 << 10)
#define A_SLAB	 (10 * STRIDE)
#define INVENTED UINT64_C(0x10000000000) /* an address that is never read */

static void test_slabs_tell_guard_from_stack_up_to_both_ends(void **state)
{
	const uint64_t low = UINT64_C(0x20000000000);
	unsigned i;

	(void)state;
	/* Class 0: 16 KiB above a guard of 4 KiB. */
	assert_int_equal(fib_slabs_find(low), FIB_SLAB_NONE);
	assert_int_equal(fib_slabs_add((void *)(uintptr_t)low, A_SLAB, 0), 0);
	assert_int_equal(fib_slabs_find(low - 1), FIB_SLAB_NONE);
	for (i = 0; i < 10; i++) {
		assert_int_equal(fib_slabs_find(low + i * STRIDE), FIB_SLAB_GUARD);
		assert_int_equal(fib_slabs_find(low + i * STRIDE + 4095), FIB_SLAB_GUARD);
		assert_int_equal(fib_slabs_find(low + i * STRIDE + 4096), FIB_SLAB_STACK);
		assert_int_equal(fib_slabs_find(low + i * STRIDE + STRIDE - 1), FIB_SLAB_STACK);
	}
	assert_int_equal(fib_slabs_find(low + A_SLAB), FIB_SLAB_NONE);
	assert_int_equal(fib_slabs_find(0), FIB_SLAB_NONE);
	assert_int_equal(fib_slabs_find(UINT64_MAX), FIB_SLAB_NONE);
}

static void test_slabs_know_every_stack_of_the_pool(void **state)
{
	static const size_t sizes[] = {FIB_STACK_MIN, FIB_STACK_DEFAULT, 32 << 20};
	struct fib_stack s;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		uint64_t low;

		assert_int_equal(fib_stack_take(NULL, sizes[i], &s), 0);
		low = (uint64_t)(uintptr_t)s.low;
		assert_int_equal(fib_slabs_find(low - fib_stack_guard(&s)), FIB_SLAB_GUARD);
		assert_int_equal(fib_slabs_find(low - 1), FIB_SLAB_GUARD);
		assert_int_equal(fib_slabs_find(low), FIB_SLAB_STACK);
		assert_int_equal(fib_slabs_find(low + s.size - 1), FIB_SLAB_STACK);
		/* A free stack is still in the slab. */
		fib_stack_give(NULL, &s);
		assert_int_equal(fib_slabs_find(low), FIB_SLAB_STACK);
	}
}

/* -- a reader, such as a signal handler, beside writers -- */

static _Atomic uint32_t added, stop;

static uint64_t place(uint32_t i)
{
	return INVENTED + (uint64_t)i * 2 * A_SLAB;
}

static void *reads(void *arg)
{
	unsigned *wrong = arg;

	while (!fib_load(&stop)) {
		const uint32_t n = fib_load_acquire(&added);

		if (n && fib_slabs_find(place(n - 1)) != FIB_SLAB_GUARD)
			++*wrong;
		/* An entry is absent or complete, never half written. */
		if (n < MANY && fib_slabs_find(place(n) + 4096) == FIB_SLAB_GUARD)
			++*wrong;
	}
	return NULL;
}

static void test_slabs_are_found_while_others_are_added(void **state)
{
	pthread_t reader;
	unsigned wrong = 0;
	uint32_t i;

	(void)state;
	assert_int_equal(pthread_create(&reader, NULL, reads, &wrong), 0);
	for (i = 0; i < MANY; i++) {
		assert_int_equal(fib_slabs_add((void *)(uintptr_t)place(i), A_SLAB, 0), 0);
		fib_store_release(&added, i + 1);
	}
	fib_store(&stop, 1);
	pthread_join(reader, NULL);
	assert_int_equal(wrong, 0);
	for (i = 0; i < MANY; i++) {
		assert_int_equal(fib_slabs_find(place(i)), FIB_SLAB_GUARD);
		assert_int_equal(fib_slabs_find(place(i) + A_SLAB), FIB_SLAB_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slabs_tell_guard_from_stack_up_to_both_ends),
		cmocka_unit_test(test_slabs_know_every_stack_of_the_pool),
		cmocka_unit_test(test_slabs_are_found_while_others_are_added),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
