/* SPDX-License-Identifier: MIT */
/* test_sleep.c - sleepers wake in the order of their deadlines, none early, none forgotten */
#include "carriers.h"

#include <errno.h>

static void *sleep_in_the_past(void *arg)
{
	int *rc = arg;

	rc[0] = fiber_sleep(0);
	rc[1] = fiber_sleep(-5);
	rc[2] = fiber_sleep_until(0);
	rc[3] = fiber_sleep_until(INT64_MIN);
	rc[4] = fiber_sleep_until(fiber_now());
	return NULL;
}

static void test_sleep_until_the_past_comes_back_at_once(void **state)
{
	int rc[5] = {1, 1, 1, 1, 1};

	(void)state;
	carriers_run(sleep_in_the_past, rc);
	for (int i = 0; i < 5; i++)
		assert_int_equal(rc[i], 0);
	sleep_in_the_past(rc);
	for (int i = 0; i < 5; i++)
		assert_int_equal(rc[i], 0);
}

static void *sleep_2ms(void *arg)
{
	const int64_t until = fiber_after(2 * MS);

	(void)arg;
	return (void *)(intptr_t)(fiber_sleep(2 * MS) == 0 && fiber_now() >= until);
}

static void test_sleep_is_never_short(void **state)
{
	(void)state;
	assert_int_equal((intptr_t)carriers_run(sleep_2ms, NULL).value, 1);
	assert_int_equal((intptr_t)sleep_2ms(NULL), 1); /* a plain thread */
}

/* -- order -- */

#define SLEEPERS 8

struct order {
	struct fiber_mutex lock;
	int woken[SLEEPERS], count; /* under lock */
	_Atomic int asleep;
	int64_t from, unit;
	bool in_time; /* all slept before the first deadline */
};

struct sleeper {
	struct order *order;
	int units;
};

static void *sleep_and_sign(void *arg)
{
	const struct sleeper *const s = arg;
	struct order *o = s->order;

	o->asleep++;
	fiber_sleep_until(o->from + s->units * o->unit);
	fiber_mutex_lock(&o->lock, FIBER_FOREVER);
	o->woken[o->count++] = s->units;
	fiber_mutex_unlock(&o->lock);
	return NULL;
}

static void *sleep_in_order(void *arg)
{
	static const int units[SLEEPERS] = {8, 1, 6, 3, 7, 2, 5, 4};
	struct order *o = arg;
	struct sleeper s[SLEEPERS];
	struct fiber *f[SLEEPERS];

	o->from = fiber_now();
	for (int i = 0; i < SLEEPERS; i++) {
		s[i] = (struct sleeper){o, units[i]};
		if (fiber_spawn(sleep_and_sign, &s[i], &f[i]) < 0)
			return NULL;
	}
	while (o->asleep < SLEEPERS)
		fiber_yield();
	o->in_time = fiber_now() < o->from + o->unit;
	for (int i = 0; i < SLEEPERS; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return arg;
}

/*
 * The order is exact on one carrier only: several carriers have a heap each, and the machine may
 * stop one of them.
 */
static void test_sleep_wakes_in_the_order_of_deadlines(void **state)
{
	struct order o;
	int64_t unit = 5 * MS;

	(void)state;
	do {
		o = (struct order){.unit = unit};
		assert_non_null(carriers_run(sleep_in_order, &o).value);
		assert_int_equal(o.count, SLEEPERS);
		unit *= 2;
	} while (!o.in_time && unit < 2000 * MS);
	if (carriers() == 1 && o.in_time)
		for (int i = 0; i < SLEEPERS; i++)
			assert_int_equal(o.woken[i], i + 1);
}

/* -- many -- */

struct crowd {
	size_t n;
	_Atomic size_t slept, early, failed;
};

static void *sleep_somewhere(void *arg)
{
	struct crowd *c = arg;
	const int64_t until = fiber_after((int64_t)(fiber_id(fiber_self()) * 7919 % 100) * MS);

	c->failed += fiber_sleep_until(until) != 0;
	c->early += fiber_now() < until;
	c->slept++;
	return NULL;
}

static void *gather(void *arg)
{
	struct crowd *c = arg;

	for (size_t i = 0; i < c->n; i++)
		c->failed += fiber_spawn(sleep_somewhere, c, NULL) != 0;
	return NULL;
}

static void test_sleep_10000_at_once_wake_once_each(void **state)
{
	struct crowd c = {.n = carriers_scale(10000)};

	(void)state;
	carriers_run(gather, &c);
	assert_int_equal(c.slept, c.n);
	assert_int_equal(c.early, 0);
	assert_int_equal(c.failed, 0);
}

/* -- a carrier in a long sleep is woken for an earlier deadline -- */

static void *sleep_long(void *arg)
{
	fiber_park(fiber_after(INT64_C(3600) * 1000 * MS));
	return arg;
}

static void test_sleep_of_an_hour_does_not_hold_up_a_short_one(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber_result r = {NULL, 1};
	struct fiber *hour, *brief;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, sleep_long, NULL, &hour), 0);
	carriers_await_suspended(hour);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(fiber_runtime_spawn(rt, NULL, sleep_2ms, NULL, &brief), 0);
		assert_int_equal(fiber_join(brief, &r, FIBER_FOREVER), 0);
		assert_int_equal((intptr_t)r.value, 1);
	}
	fiber_unpark(hour);
	assert_int_equal(fiber_join(hour, NULL, FIBER_FOREVER), 0);
	carriers_finish(rt);
}

/* -- sleepers while their carrier runs other fibers -- */

static void *yield_until(void *arg)
{
	_Atomic bool *over = arg;

	while (!*over)
		fiber_yield();
	return NULL;
}

static void *sleep_among_yielders(void *arg)
{
	_Atomic bool over = false;
	struct fiber *f[10];
	void *right = arg;

	for (int i = 0; i < 10; i++)
		fiber_spawn(yield_until, &over, &f[i]);
	for (int i = 0; i < 5; i++)
		if (!sleep_2ms(NULL))
			right = NULL;
	over = true;
	for (int i = 0; i < 10; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return right;
}

static void test_sleep_ends_while_others_keep_every_carrier_busy(void **state)
{
	(void)state;
	assert_non_null(carriers_run(sleep_among_yielders, state).value);
}

static void test_sleep_after_saturates(void **state)
{
	const int64_t before = fiber_now();

	(void)state;
	assert_true(fiber_after(INT64_MAX) == FIBER_FOREVER);
	assert_true(fiber_after(INT64_MIN) == 0);
	assert_true(fiber_after(0) >= before);
	assert_true(fiber_after(1000 * MS) >= before + 1000 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleep_until_the_past_comes_back_at_once),
		cmocka_unit_test(test_sleep_is_never_short),
		cmocka_unit_test(test_sleep_wakes_in_the_order_of_deadlines),
		cmocka_unit_test(test_sleep_10000_at_once_wake_once_each),
		cmocka_unit_test(test_sleep_of_an_hour_does_not_hold_up_a_short_one),
		cmocka_unit_test(test_sleep_ends_while_others_keep_every_carrier_busy),
		cmocka_unit_test(test_sleep_after_saturates),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
