/* SPDX-License-Identifier: MIT */
/* test_many.c - a hundred thousand fibers, parked, woken and joined, twice */
#include "carriers.h"

#include <errno.h>
#include <stdatomic.h>

#define MANY 100000

struct crowd {
	size_t n;
	struct fiber **fibers;
	atomic_size_t woken, failed;
	size_t repeated;
};

static void *park(void *arg)
{
	struct crowd *c = arg;

	if (fiber_park(FIBER_FOREVER) < 0)
		c->failed++;
	c->woken++;
	return arg;
}

static void *park_wake_join(void *arg)
{
	struct crowd *c = arg;
	struct fiber_result r;
	uint64_t last = 0;

	for (size_t i = 0; i < c->n; i++) {
		c->failed += fiber_spawn(park, c, &c->fibers[i]) != 0;
		c->repeated += fiber_id(c->fibers[i]) <= last;
		last = fiber_id(c->fibers[i]);
	}
	for (size_t i = 0; i < c->n; i++)
		carriers_await_suspended(c->fibers[i]);
	c->failed += c->woken;
	for (size_t i = 0; i < c->n; i++)
		fiber_unpark(c->fibers[i]);
	for (size_t i = 0; i < c->n; i++)
		c->failed += fiber_join(c->fibers[i], &r, FIBER_FOREVER) != 0 || r.value != arg;
	return NULL;
}

static void crowd(size_t n, fiber_fn *fn)
{
	struct crowd c = {.n = carriers_scale(n)};

	c.fibers = calloc(c.n, sizeof(struct fiber *));
	assert_non_null(c.fibers);
	/* In the second round everything comes from the pools. */
	for (size_t round = 1; round <= 2; round++) {
		c.woken = 0;
		carriers_run(fn, &c);
		assert_int_equal(c.woken, c.n);
		assert_int_equal(c.failed, 0);
		assert_int_equal(c.repeated, 0);
	}
	free(c.fibers);
}

static void test_many_parked_at_once_are_all_woken(void **state)
{
	(void)state;
	crowd(MANY, park_wake_join);
}

/* Spawn all fibers and block until all of them wait. */
static void gather(struct crowd *c, fiber_fn *fn)
{
	for (size_t i = 0; i < c->n; i++)
		c->failed += fiber_spawn(fn, c, &c->fibers[i]) != 0;
	for (size_t i = 0; i < c->n; i++)
		carriers_await_suspended(c->fibers[i]);
	c->failed += c->woken;
}

static void join(struct crowd *c)
{
	for (size_t i = 0; i < c->n; i++)
		c->failed += fiber_join(c->fibers[i], NULL, FIBER_FOREVER) != 0;
}

static struct fiber_mutex mutex;

static void *wait_for_one(void *arg)
{
	struct crowd *c = arg;

	if (fiber_mutex_lock(&mutex, FIBER_FOREVER) < 0)
		c->failed++;
	else
		c->failed += fiber_mutex_unlock(&mutex) != 0;
	c->woken++;
	return arg;
}

static void *behind_one_mutex(void *arg)
{
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	gather(arg, wait_for_one);
	fiber_mutex_unlock(&mutex);
	join(arg);
	return NULL;
}

static void test_many_behind_one_mutex_get_it_one_after_another(void **state)
{
	(void)state;
	crowd(MANY / 5, behind_one_mutex);
}

static struct fiber_sem gate;

static void *pass_the_gate(void *arg)
{
	struct crowd *c = arg;

	c->failed += fiber_sem_wait(&gate, fiber_after(INT64_C(3600) * 1000 * MS)) != 0;
	c->woken++;
	return arg;
}

static void *open_the_gate(void *arg)
{
	struct crowd *c = arg;

	gather(c, pass_the_gate);
	for (size_t i = 0; i < c->n; i++)
		fiber_sem_post(&gate);
	join(c);
	return NULL;
}

/* Each fiber has a timer that never fires and must be removed. */
static void test_many_with_deadlines_far_off_pass_a_gate(void **state)
{
	(void)state;
	crowd(MANY / 5, open_the_gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_parked_at_once_are_all_woken),
		cmocka_unit_test(test_many_behind_one_mutex_get_it_one_after_another),
		cmocka_unit_test(test_many_with_deadlines_far_off_pass_a_gate),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
