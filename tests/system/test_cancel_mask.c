/* SPDX-License-Identifier: MIT */
/* test_cancel_mask.c - a masked wait can succeed, and the first wait after the mask is cancelled */
#include "carriers.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

/* -- what a masked wait gets -- */

struct cleaner {
	struct fiber_mutex lock;
	_Atomic int parked, held;
	int rc[4];
};

static void *cleans_up(void *arg)
{
	struct cleaner *c = arg;

	fiber_cancel(fiber_self());
	c->rc[0] = fiber_mutex_lock(&c->lock, FIBER_FOREVER);
	fiber_cancel_mask();
	fiber_cancel_mask();
	c->rc[1] = fiber_mutex_lock(&c->lock, FIBER_FOREVER);
	if (c->rc[1] == 0)
		fiber_mutex_unlock(&c->lock);
	fiber_cancel_unmask();
	atomic_store(&c->parked, 1);
	c->rc[2] = fiber_park(FIBER_FOREVER);
	fiber_cancel_unmask();
	c->rc[3] = fiber_park(FIBER_FOREVER);
	return NULL;
}

static void test_cancel_mask_nests_and_lets_a_lock_and_a_token_come(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct cleaner c = {.rc = {1, 1, 1, 1}};
	struct fiber *fiber;

	(void)state;
	assert_int_equal(fiber_mutex_lock(&c.lock, FIBER_FOREVER), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, cleans_up, &c, &fiber), 0);
	carriers_await_suspended(fiber);
	fiber_mutex_unlock(&c.lock);
	while (!atomic_load(&c.parked))
		carriers_pause();
	carriers_await_suspended(fiber);
	fiber_unpark(fiber);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	assert_int_equal(c.rc[0], -ECANCELED);
	assert_int_equal(c.rc[1], 0);
	assert_int_equal(c.rc[2], 0);
	assert_int_equal(c.rc[3], -ECANCELED);
	carriers_finish(rt);
}

/* -- the request is never lost -- */

static void *masks_now_and_then(void *arg)
{
	_Atomic unsigned *turns = arg;
	int rc = 0;

	while (rc != -ECANCELED) {
		fiber_cancel_mask();
		if (fiber_sleep(1000) < 0)
			return arg;
		fiber_cancel_unmask();
		turns[0]++;
		if (turns[0] % 3)
			rc = fiber_park(fiber_after(1000));
	}
	/* The next wait fails too. */
	return fiber_sleep(1) == -ECANCELED ? NULL : arg;
}

static void test_cancel_mask_never_loses_a_request(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	const size_t rounds = carriers_scale(300);
	size_t i;

	(void)state;
	for (i = 0; i < rounds; i++) {
		_Atomic unsigned turns = 0;
		struct fiber_result r = {NULL, 1};
		struct fiber *fiber;
		volatile unsigned spin = (unsigned)(i * 7919 % 4000);

		assert_int_equal(fiber_runtime_spawn(rt, NULL, masks_now_and_then, &turns, &fiber),
				 0);
		while (!turns)
			carriers_pause();
		while (spin)
			spin--;
		fiber_cancel(fiber);
		assert_int_equal(fiber_join(fiber, &r, FIBER_FOREVER), 0);
		assert_null(r.value);
		assert_int_equal(r.error, -ECANCELED);
	}
	carriers_finish(rt);
}

/* -- at the end of a fiber, of a runtime, and outside -- */

static int handled[2];

static void waits_at_exit(void *arg)
{
	(void)arg;
	handled[0] = fiber_sleep(1000);
	fiber_cancel_mask();
	handled[1] = fiber_sleep(1000);
}

static void *exits_masked(void *arg)
{
	fiber_at_exit(waits_at_exit, NULL);
	fiber_cancel(fiber_self());
	fiber_cancel_mask();
	fiber_exit(arg);
}

static void *is_cancelled_at_once(void *arg)
{
	int *rc = arg;

	fiber_cancel(fiber_self());
	*rc = fiber_sleep(1000);
	return NULL;
}

static void test_cancel_mask_goes_with_the_fiber(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber_result r;
	struct fiber *fiber;
	int rc = 1;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, exits_masked, NULL, &fiber), 0);
	assert_int_equal(fiber_join(fiber, &r, FIBER_FOREVER), 0);
	assert_int_equal(r.error, -ECANCELED);
	assert_int_equal(handled[0], -ECANCELED);
	assert_int_equal(handled[1], 0);
	/* The next fiber in this record starts unmasked. */
	assert_int_equal(fiber_runtime_spawn(rt, NULL, is_cancelled_at_once, &rc, &fiber), 0);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	assert_int_equal(rc, -ECANCELED);
	carriers_finish(rt);
}

static int flushed[3];

static void *flushes(void *arg)
{
	flushed[0] = fiber_sleep_until(FIBER_FOREVER);
	fiber_cancel_mask();
	for (int i = 0; i < 5 && flushed[1] == 0; i++)
		flushed[1] = fiber_sleep(MS);
	fiber_cancel_unmask();
	while (fiber_sleep(MS) < 0)
		flushed[2]++;
	return arg;
}

static void test_cancel_mask_of_a_background_fiber_holds_the_finish_up(void **state)
{
	const struct fiber_attr attr = {.size = sizeof attr,
					.flags = FIBER_BACKGROUND | FIBER_DETACHED};
	struct fiber_runtime *rt = carriers_start();

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, &attr, flushes, NULL, NULL), 0);
	while (!fiber_runtime_done(rt))
		carriers_pause();
	usleep(2000);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	assert_int_equal(flushed[0], -ECANCELED);
	assert_int_equal(flushed[1], 0);
	/* The first wait was cancelled, and the fiber exited in one of its later waits. */
	assert_in_range(flushed[2], 0, 2);
}

static void test_cancel_mask_has_no_effect_outside_a_fiber(void **state)
{
	(void)state;
	fiber_cancel_unmask();
	fiber_cancel_mask();
	assert_false(fiber_cancelled());
	assert_int_equal(fiber_sleep(1000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cancel_mask_nests_and_lets_a_lock_and_a_token_come),
		cmocka_unit_test(test_cancel_mask_never_loses_a_request),
		cmocka_unit_test(test_cancel_mask_goes_with_the_fiber),
		cmocka_unit_test(test_cancel_mask_of_a_background_fiber_holds_the_finish_up),
		cmocka_unit_test(test_cancel_mask_has_no_effect_outside_a_fiber),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
