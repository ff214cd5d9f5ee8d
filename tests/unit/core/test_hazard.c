/* SPDX-License-Identifier: MIT */
/* test_hazard.c - a held record stays its fiber's, and returns to the registry once */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "core/hazard.h"
#include "core/record_cache.h"
#include "core/registry.h"
#include "os/os.h"
#include "tests/harness/watchdog.h"

static struct fiber *fiber;
static uint64_t at;

static int setup(void **state)
{
	unsigned n;

	(void)state;
	if (fib_os_barrier_prepare() < 0)
		fib_hazard_fence_ends();
	if (fib_registry_init() < 0 || fib_registry_take(1, &fiber, &n) < 0)
		return -1;
	fib_record_name(NULL, fiber);
	at = (uint64_t)(fiber - fib_registry_at(0));
	return 0;
}

/* The same as fib_free_record(). */
static void end(struct fiber *f)
{
	fib_publish(&f->id, 0);
	if (!fib_hazard_keeps(f))
		fib_registry_give(f, f, 1);
}

/* The next record that the registry hands out. */
static struct fiber *next(void)
{
	struct fiber *f;
	unsigned n;

	assert_int_equal(fib_registry_take(1, &f, &n), 0);
	return f;
}

static void test_hold_of_another_fibers_record_is_refused(void **state)
{
	(void)state;
	assert_null(fib_hazard_take(at, fiber->id + 1));
	end(fiber);
	assert_null(fib_hazard_take(at, fiber->id + 1));
	assert_ptr_equal(next(), fiber);
}

static void test_hold_keeps_a_record_from_the_next_fiber_until_the_release(void **state)
{
	struct fiber *other;

	(void)state;
	assert_ptr_equal(fib_hazard_take(at, fiber->id), fiber);
	end(fiber);
	other = next();
	assert_ptr_not_equal(other, fiber);
	fib_hazard_release(fiber);
	assert_ptr_equal(next(), fiber);
	assert_ptr_not_equal(next(), fiber); /* the record was returned once only */
}

static void test_hold_of_one_record_lets_others_end(void **state)
{
	struct fiber *other = next();

	(void)state;
	fib_record_name(NULL, other);
	assert_ptr_equal(fib_hazard_take(at, fiber->id), fiber);
	end(other);
	assert_ptr_equal(next(), other);
	fib_hazard_release(fiber);
	end(fiber);
	assert_ptr_equal(next(), fiber);
}

static void test_hold_holds_where_ends_have_to_fence(void **state)
{
	(void)state;
	fib_hazard_fence_ends();
	test_hold_keeps_a_record_from_the_next_fiber_until_the_release(state);
}

static void test_hold_of_the_parent_is_nobodys_in_a_child(void **state)
{
	(void)state;
	assert_ptr_equal(fib_hazard_take(at, fiber->id), fiber);
	fib_registry_lock();
	fib_registry_forget();
	fib_hazard_forget();
	fib_registry_unlock();
	assert_int_equal(setup(state), 0);
	end(fiber);
	assert_ptr_equal(next(), fiber);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_hold_of_another_fibers_record_is_refused, setup),
		cmocka_unit_test_setup(
			test_hold_keeps_a_record_from_the_next_fiber_until_the_release, setup),
		cmocka_unit_test_setup(test_hold_of_one_record_lets_others_end, setup),
		cmocka_unit_test_setup(test_hold_of_the_parent_is_nobodys_in_a_child, setup),
		cmocka_unit_test_setup(test_hold_holds_where_ends_have_to_fence, setup),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
