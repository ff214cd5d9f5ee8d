/* SPDX-License-Identifier: MIT */
/* test_live_count.c - each carrier counts its fibers, and the end of the last is noticed */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"

static void *parks(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void *spawns_five(void *arg)
{
	struct fib_sched *s = arg;
	struct fiber *f[5];

	must(fib_live_count(s) == 1 + fib_load(&s->background_live));
	for (int i = 0; i < 5; i++)
		must(fiber_spawn(parks, NULL, &f[i]) == 0);
	must(fib_live_count(s) == 6 + fib_load(&s->background_live));
	must(!fib_live_none(s));
	for (int i = 0; i < 5; i++) {
		fiber_unpark(f[i]);
		must(fiber_join(f[i], NULL, FIBER_FOREVER) == 0);
		must(fib_live_count(s) == 5 - (uint64_t)i + fib_load(&s->background_live));
	}
	return NULL;
}

static void test_live_counts_those_from_outside_and_those_of_fibers(void **state)
{
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	carriers_start(&s, 2);
	assert_int_equal(fib_live_count(&s), 0);
	assert_true(fib_live_none(&s));
	f = carriers_spawn(&s, "spawns", spawns_five, &s);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fib_live_count(&s), 0);
	assert_true(fib_live_none(&s));
	carriers_stop(&s);
}

static void test_live_background_fibers_count_apart(void **state)
{
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	carriers_start(&s, 1);
	f = carriers_spawn_flags(&s, "background", FIBER_BACKGROUND, parks, NULL);
	assert_int_equal(fib_live_count(&s), 1);
	assert_true(fib_live_none(&s));
	assert_int_equal(fib_live_await(&s, false, FIBER_FOREVER), 0);
	assert_int_equal(fib_live_await(&s, true, 0), -ETIMEDOUT);
	fiber_unpark(f);
	assert_int_equal(fib_live_await(&s, true, FIBER_FOREVER), 0);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fib_live_count(&s), 0);
	carriers_stop(&s);
}

static void test_live_totals_count_everybody_once(void **state)
{
	uint64_t spawned, ended;
	struct fib_sched s;
	struct fiber *f[2];

	(void)state;
	carriers_start(&s, 2);
	f[0] = carriers_spawn_flags(&s, "background", FIBER_BACKGROUND, parks, NULL);
	f[1] = carriers_spawn(&s, "spawns", spawns_five, &s);
	assert_int_equal(fiber_join(f[1], NULL, FIBER_FOREVER), 0);
	fib_live_totals(&s, &spawned, &ended);
	assert_int_equal(spawned, 7);
	assert_int_equal(ended, 6);
	fiber_unpark(f[0]);
	assert_int_equal(fiber_join(f[0], NULL, FIBER_FOREVER), 0);
	fib_live_totals(&s, &spawned, &ended);
	assert_int_equal(spawned, 7);
	assert_int_equal(ended, 7);
	carriers_stop(&s);
}

static void test_live_withdrawn_never_was(void **state)
{
	struct fib_sched s;

	(void)state;
	carriers_start(&s, 1);
	assert_int_equal(fib_live_enter(&s, 0), 0);
	assert_int_equal(fib_live_enter(&s, FIBER_BACKGROUND), 0);
	assert_int_equal(fib_live_count(&s), 2);
	assert_false(fib_close(&s));
	fib_live_withdraw(&s, 0);
	fib_live_withdraw(&s, FIBER_BACKGROUND);
	assert_int_equal(fib_live_count(&s), 0);
	assert_false(fib_closed(&s));
	assert_true(fib_close(&s));
	assert_true(fib_closed(&s));
	assert_int_equal(fib_live_enter(&s, 0), -ESHUTDOWN);
	assert_int_equal(fib_live_enter(&s, FIBER_BACKGROUND), -ESHUTDOWN);
	assert_int_equal(fib_live_count(&s), 0);
	fib_sched_stop(&s);
}

/*
 * Each fiber spawns two and exits before they do, so that one carrier counts out a fiber that
 * another counted in.
 */
static void *splits(void *arg)
{
	uintptr_t depth = (uintptr_t)arg;

	for (int i = 0; depth && i < 2; i++)
		must(fiber_spawn(splits, (void *)(depth - 1), NULL) == 0);
	fiber_yield();
	return NULL;
}

static void test_live_end_is_told_once_all_are_gone(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct fib_sched s;

		carriers_start(&s, 1 + (unsigned)i % 4);
		fiber_detach(carriers_spawn(&s, "root", splits, (void *)(uintptr_t)(i % 9)));
		assert_int_equal(fib_live_await(&s, false, FIBER_FOREVER), 0);
		assert_int_equal(fib_live_count(&s), 0);
		assert_true(fib_close(&s));
		fib_sched_stop(&s);
		assert_int_equal(carriers_fibers(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_counts_those_from_outside_and_those_of_fibers),
		cmocka_unit_test(test_live_background_fibers_count_apart),
		cmocka_unit_test(test_live_totals_count_everybody_once),
		cmocka_unit_test(test_live_withdrawn_never_was),
		cmocka_unit_test(test_live_end_is_told_once_all_are_gone),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
