/* SPDX-License-Identifier: MIT */
/* test_locals.c - each fiber finds its own values on any carrier, from its start to its exit */
#include "carriers.h"

#include <errno.h>
#include <stdatomic.h>

/* -- values given to spawn -- */

static struct {
	fiber_key_t key;
	_Atomic unsigned found, destroyed;
} given;

static void count_given(void *value)
{
	if (value == &given)
		given.destroyed++;
}

static void *find_given(void *arg)
{
	if (fiber_getspecific(given.key) == &given)
		given.found++;
	return arg;
}

static void test_locals_given_at_the_spawn_are_there_at_once(void **state)
{
	struct fiber_local local = {.value = &given};
	const struct fiber_attr attr = {.size = sizeof attr, .locals = &local, .nlocals = 1};
	struct fiber_runtime *rt;
	struct fiber *fiber = NULL;

	(void)state;
	assert_int_equal(fiber_key_create(&given.key, count_given), 0);
	local.key = given.key;
	rt = carriers_start();
	assert_int_equal(fiber_runtime_spawn(rt, &attr, find_given, NULL, &fiber), 0);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	assert_int_equal(given.found, 1);
	assert_int_equal(given.destroyed, 1);
	/* A fiber that never runs never owns its values. */
	assert_int_equal(fiber_create(&attr, find_given, NULL, &fiber), 0);
	assert_int_equal(fiber_detach(fiber), 0);
	assert_int_equal(given.destroyed, 1);
	assert_int_equal(fiber_key_delete(given.key), 0);
	fiber = NULL;
	assert_int_equal(fiber_runtime_spawn(rt, &attr, find_given, NULL, &fiber), -EINVAL);
	assert_null(fiber);
	carriers_finish(rt);
}

/* -- many at once -- */

static struct {
	fiber_key_t key;
	_Atomic size_t handlers, destructors, wrong;
} crowd;

static void count_handler(void *arg)
{
	if (fiber_getspecific(crowd.key) != arg)
		crowd.wrong++;
	crowd.handlers++;
	fiber_yield();
}

static void count_destroyed(void *arg)
{
	if (fiber_getspecific(crowd.key) || !arg)
		crowd.wrong++;
	crowd.destructors++;
	fiber_yield();
}

static void *one_of_many(void *arg)
{
	if (fiber_setspecific(crowd.key, arg) < 0 || fiber_at_exit(count_handler, arg) < 0)
		crowd.wrong++;
	for (int i = 0; i < 5; i++) {
		fiber_yield();
		if (fiber_getspecific(crowd.key) != arg)
			crowd.wrong++;
	}
	return NULL;
}

static void *spawn_many(void *arg)
{
	const size_t n = (size_t)arg;

	for (size_t i = 0; i < n; i++) {
		if (fiber_spawn(one_of_many, (void *)(i + 1), NULL) < 0)
			crowd.wrong++;
		if (i % 16 == 0)
			fiber_yield();
	}
	return NULL;
}

static void test_locals_of_many_fibers_are_not_mixed_up(void **state)
{
	const size_t n = carriers_scale(20000);

	(void)state;
	assert_int_equal(fiber_key_create(&crowd.key, count_destroyed), 0);
	carriers_run(spawn_many, (void *)n);
	assert_int_equal(crowd.wrong, 0);
	assert_int_equal(crowd.handlers, n);
	assert_int_equal(crowd.destructors, n);
	assert_int_equal(fiber_key_delete(crowd.key), 0);
}

static void test_locals_outside_a_fiber_are_none(void **state)
{
	fiber_key_t key;

	(void)state;
	assert_int_equal(fiber_key_create(&key, NULL), 0);
	assert_int_equal(fiber_setspecific(key, &key), -EPERM);
	assert_null(fiber_getspecific(key));
	assert_int_equal(fiber_key_delete(key), 0);
	assert_int_equal(fiber_key_delete(key), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locals_given_at_the_spawn_are_there_at_once),
		cmocka_unit_test(test_locals_of_many_fibers_are_not_mixed_up),
		cmocka_unit_test(test_locals_outside_a_fiber_are_none),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
