/* SPDX-License-Identifier: MIT */
/* test_steal.c - a thief leaves alone what its carrier will run soon */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "sched/sched.h"
#include "sched/steal.h"
#include "tests/harness/watchdog.h"

#define MANY 40u

static struct fib_sched sched;
static struct fib_carrier *thief, *victim; /* no threads run them */
static struct fib_sight sights[2];
static struct fiber *fibers; /* never run */
static bool looked;

static int setup(void **state)
{
	struct fib_carrier *carriers = aligned_alloc(FIB_CACHE_LINE, 2 * sizeof *carriers);

	(void)state;
	fibers = aligned_alloc(FIB_CACHE_LINE, (MANY + 1) * sizeof *fibers);
	if (!carriers || !fibers)
		return -1;
	memset(carriers, 0, 2 * sizeof *carriers);
	memset(fibers, 0, (MANY + 1) * sizeof *fibers);
	sched.carriers = carriers;
	sched.carrier_count = 2;
	thief = &carriers[0];
	victim = &carriers[1];
	for (unsigned i = 0; i < 2; i++) {
		carriers[i].sched = &sched;
		carriers[i].index = i;
		carriers[i].picks = FIB_LOOK_EVERY;
		carriers[i].rand = i + 1;
		carriers[i].sights = sights;
		fib_store(&carriers[i].cpu, i);
		fib_runqueue_init(&carriers[i].queue, false);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(sched.carriers);
	free(fibers);
	return 0;
}

/* The victim makes n fibers runnable. */
static void queue(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fib_runqueue_put(&victim->queue, &fibers[i]);
}

/* The victim switches n times to the next fiber of its queue. */
static void run(unsigned n)
{
	for (; n; n--) {
		victim->picks--;
		assert_non_null(fib_runqueue_take(&victim->queue));
	}
}

static struct fiber *look(bool patient)
{
	return fib_steal(thief, patient, false, &looked);
}

static void test_steal_takes_half_of_a_queue_that_stands(void **state)
{
	(void)state;
	queue(4);
	fib_steal_begin(thief);
	assert_null(look(false));
	assert_true(looked);
	assert_ptr_equal(look(false), &fibers[0]);
	assert_ptr_equal(fib_runqueue_take(&thief->queue), &fibers[1]);
	assert_null(fib_runqueue_take(&thief->queue));
	assert_int_equal(fib_load(&thief->counters.steals), 1);
}

static void test_steal_leaves_a_queue_alone_that_moves(void **state)
{
	(void)state;
	queue(MANY);
	fib_steal_begin(thief);
	run(MANY / 2);
	for (unsigned i = 0; i < 3; i++) {
		assert_null(look(true));
		run(MANY / 8);
	}
	assert_null(look(true));
	assert_non_null(look(true));
}

static void test_steal_takes_from_a_queue_that_is_too_long_for_its_carrier(void **state)
{
	(void)state;
	queue(MANY);
	fib_steal_begin(thief);
	run(2);
	assert_ptr_equal(look(false), &fibers[2]);
}

static void test_steal_takes_the_fiber_woken_last_from_a_carrier_that_stands(void **state)
{
	(void)state;
	fib_store(&victim->woken, &fibers[0]);
	fib_steal_begin(thief);
	assert_null(look(true));
	victim->picks--; /* it has switched since, and has woken the fiber again */
	assert_null(look(true));
	assert_null(look(false));
	assert_ptr_equal(look(true), &fibers[0]);
	assert_null(fib_load(&victim->woken));
}

static void start(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fib_start_queue_put(&victim->start_queue, &victim->queue, &fibers[i]);
}

static void test_steal_takes_new_fibers_from_a_carrier_that_stands(void **state)
{
	(void)state;
	start(1);
	fib_steal_begin(thief);
	assert_null(look(false));
	assert_ptr_equal(look(false), &fibers[0]);
}

static void test_steal_leaves_new_fibers_alone_that_start_soon(void **state)
{
	(void)state;
	start(10);
	fib_steal_begin(thief);
	for (unsigned i = 0; i < 3; i++) {
		victim->picks -= 2;
		assert_null(look(true));
	}
	/* It has looked outside: from 58 to 0, and again from 64. */
	victim->picks = FIB_LOOK_EVERY;
	assert_null(look(true));
	victim->picks--;
	assert_ptr_equal(look(false), &fibers[0]);
}

static void test_steal_takes_nothing_on_its_own_cpu_until_it_has_slept(void **state)
{
	(void)state;
	fib_store(&victim->cpu, fib_load(&thief->cpu));
	queue(4);
	fib_start_queue_put(&victim->start_queue, &victim->queue, &fibers[MANY]);
	fib_store(&victim->woken, &fibers[4]);
	fib_steal_begin(thief);
	for (unsigned i = 0; i < 3; i++) {
		assert_null(look(true));
		assert_false(looked);
	}
	/* The victim could run meanwhile, and did. */
	run(1);
	fib_start_queue_take(&victim->start_queue, false);
	assert_null(fib_steal(thief, true, true, &looked));
	assert_true(looked);
	/* The victim could run again, and did not. */
	assert_ptr_equal(fib_steal(thief, true, true, &looked), &fibers[1]);
}

static void test_steal_looks_at_all_where_the_cpu_is_unknown(void **state)
{
	(void)state;
	fib_store(&thief->cpu, FIB_OS_NO_CPU);
	fib_store(&victim->cpu, FIB_OS_NO_CPU);
	queue(1);
	fib_steal_begin(thief);
	assert_null(look(false));
	assert_true(looked);
	assert_ptr_equal(look(false), &fibers[0]);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_steal_takes_half_of_a_queue_that_stands),
		TEST(test_steal_leaves_a_queue_alone_that_moves),
		TEST(test_steal_takes_from_a_queue_that_is_too_long_for_its_carrier),
		TEST(test_steal_takes_the_fiber_woken_last_from_a_carrier_that_stands),
		TEST(test_steal_takes_new_fibers_from_a_carrier_that_stands),
		TEST(test_steal_leaves_new_fibers_alone_that_start_soon),
		TEST(test_steal_takes_nothing_on_its_own_cpu_until_it_has_slept),
		TEST(test_steal_looks_at_all_where_the_cpu_is_unknown),
	};

	harness_watchdog(20);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
