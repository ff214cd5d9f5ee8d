/* SPDX-License-Identifier: MIT */
/* test_own_tls.c - carriers look at blocks from the first fiber that has one, which are kept for the next */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "carriers.h"
#include "os/own_tls.h"
#include "sched/own_tls.h"
#include "tests/harness/watchdog.h"

static const struct fiber_attr own = {.size = sizeof own, .flags = FIBER_OWN_TLS};

static bool missing(void)
{
	const char *why;

	return fib_own_tls_check(&why) < 0;
}

static void *block(void *arg)
{
	*(void **)arg = fib_self()->tls;
	return fib_arch_tp();
}

/* The blocks of two fibers that run one after the other. */
static void *make_two(void *arg)
{
	void **blocks = arg;
	struct fiber_result result;
	struct fiber *fiber;

	for (int i = 0; i < 2; i++) {
		must(fiber_spawn_attr(&own, block, &blocks[i], &fiber) == 0);
		must(fiber_join(fiber, &result, FIBER_FOREVER) == 0);
		must(result.value == blocks[i]);
		must(fib_load(&fib_carrier_self()->slow_switch) & FIB_SLOW_OWN_TLS);
		must(fib_arch_tp() == fib_carrier_self()->tp);
	}
	return NULL;
}

static void test_own_tls_carriers_use_the_block_and_keep_it_for_the_next(void **state)
{
	void *blocks[2] = {NULL, NULL};

	(void)state;
	if (missing())
		skip();
	prove(1, make_two, blocks);
	assert_non_null(blocks[0]);
	assert_ptr_equal(blocks[0], blocks[1]);
}

static void *without(void *arg)
{
	must(!(fib_load(&fib_carrier_self()->slow_switch) & FIB_SLOW_OWN_TLS));
	return arg;
}

static void test_own_tls_costs_nothing_where_no_fiber_has_it(void **state)
{
	(void)state;
	prove(1, without, NULL);
}

static void *claim(void *arg)
{
	void *tp = fib_self()->tls;

	*fib_os_own_tls_word(tp) = arg;
	*(void **)arg = tp;
	return NULL;
}

/* A block whose word is set stays its owner's after the fiber's end. */
static void *make_claimed(void *arg)
{
	void *claimed, *other;
	struct fiber *fiber;

	must(fiber_spawn_attr(&own, claim, &claimed, &fiber) == 0);
	must(fiber_join(fiber, NULL, FIBER_FOREVER) == 0);
	must(fiber_spawn_attr(&own, block, &other, &fiber) == 0);
	must(fiber_join(fiber, NULL, FIBER_FOREVER) == 0);
	must(claimed != other && fib_os_own_tls_is(claimed) && fib_os_own_tls_is(other));
	must(!fib_os_own_tls_is(fib_arch_tp()));
	fib_os_own_tls_give(claimed);
	return arg;
}

static void test_own_tls_a_claimed_block_is_not_used_again(void **state)
{
	(void)state;
	if (missing())
		skip();
	prove(1, make_claimed, NULL);
}

static void test_own_tls_is_missing_only_with_a_reason(void **state)
{
	const char *why = "";

	(void)state;
	if (fib_own_tls_check(&why) == 0)
		assert_null(why);
	else
		assert_true(why[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_tls_is_missing_only_with_a_reason),
		cmocka_unit_test(test_own_tls_costs_nothing_where_no_fiber_has_it),
		cmocka_unit_test(test_own_tls_carriers_use_the_block_and_keep_it_for_the_next),
		cmocka_unit_test(test_own_tls_a_claimed_block_is_not_used_again),
	};

	harness_watchdog(LIMIT_S);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
