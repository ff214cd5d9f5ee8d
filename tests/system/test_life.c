/* SPDX-License-Identifier: MIT */
/* test_life.c - a fiber's life: spawned from anywhere, joined or detached, exited in three ways */
#include "carriers.h"
#include "tests/harness/fibers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static void *twice(void *arg)
{
	return (void *)((intptr_t)arg * 2);
}

static void *yield_a_while(void *arg)
{
	for (int i = 0; i < 100; i++)
		fiber_yield();
	return arg;
}

/* -- spawn and join -- */

static void *tree(void *arg)
{
	const intptr_t depth = (intptr_t)arg;
	struct fiber *left, *right;
	struct fiber_result l = {0}, r = {0};

	if (depth == 0)
		return (void *)1;
	if (fiber_spawn(tree, (void *)(depth - 1), &left) < 0 ||
	    fiber_spawn(tree, (void *)(depth - 1), &right) < 0)
		return NULL;
	if (fiber_join(left, &l, FIBER_FOREVER) < 0 || fiber_join(right, &r, FIBER_FOREVER) < 0)
		return NULL;
	return (void *)((intptr_t)l.value + (intptr_t)r.value);
}

static void test_life_tree_of_fibers_adds_up(void **state)
{
	(void)state;
	assert_int_equal((intptr_t)carriers_run(tree, (void *)10).value, 1024);
}

static void *many_in_turn(void *arg)
{
	struct fiber_result r;
	struct fiber *f;
	intptr_t sum = 0;

	for (intptr_t i = 0; i < (intptr_t)arg; i++)
		if (fiber_spawn(twice, (void *)i, &f) == 0 && fiber_join(f, &r, FIBER_FOREVER) == 0)
			sum += (intptr_t)r.value;
	return (void *)sum;
}

static void test_life_thousands_one_after_another(void **state)
{
	const intptr_t n = (intptr_t)carriers_scale(10000);

	(void)state;
	assert_int_equal((intptr_t)carriers_run(many_in_turn, (void *)n).value, n * (n - 1));
}

/* -- ways to exit -- */

static void *deep_exit(void *arg)
{
	fiber_yield();
	fiber_exit(arg);
}

static void *deep_fail(void *arg)
{
	fiber_yield();
	fiber_fail((int)(intptr_t)arg, "no %s left", "paper");
}

static void *two_ends(void *arg)
{
	struct fiber_result *r = arg;
	struct fiber *a, *b;

	fiber_spawn(deep_exit, (void *)7, &a);
	fiber_spawn(deep_fail, (void *)(intptr_t)-EIO, &b);
	fiber_join(a, &r[0], FIBER_FOREVER);
	fiber_join(b, &r[1], FIBER_FOREVER);
	return NULL;
}

static void test_life_exit_gives_a_value_and_fail_an_error(void **state)
{
	struct fiber_result r[2] = {{NULL, 1}, {NULL, 1}};

	(void)state;
	carriers_run(two_ends, r);
	assert_int_equal((intptr_t)r[0].value, 7);
	assert_int_equal(r[0].error, 0);
	assert_int_equal(r[1].error, -EIO);
	assert_int_equal(carriers_run(deep_fail, (void *)ENOENT).error, -ENOENT);
}

/* -- joins with deadlines -- */

struct joins {
	int past, soon, again, early;
};

static void *join_impatiently(void *arg)
{
	struct joins *j = arg;
	struct fiber *f;
	int64_t deadline = fiber_after(2 * MS);

	if (fiber_spawn(harness_park, NULL, &f) < 0)
		return NULL;
	j->past = fiber_join(f, NULL, 0);
	j->soon = fiber_join(f, NULL, deadline);
	j->early = fiber_now() < deadline;
	fiber_unpark(f);
	j->again = fiber_join(f, NULL, FIBER_FOREVER);
	return NULL;
}

static void expect_joins(const struct joins *j)
{
	assert_int_equal(j->past, -ETIMEDOUT);
	assert_int_equal(j->soon, -ETIMEDOUT);
	assert_int_equal(j->early, 0);
	assert_int_equal(j->again, 0);
}

static void test_life_join_that_timed_out_can_be_repeated_from_a_fiber(void **state)
{
	struct joins j = {1, 1, 1, 1};

	(void)state;
	carriers_run(join_impatiently, &j);
	expect_joins(&j);
}

static void test_life_join_that_timed_out_can_be_repeated_from_a_thread(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct joins j = {1, 1, 1, 1};
	const int64_t deadline = fiber_after(2 * MS);
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, harness_park, NULL, &f), 0);
	j.past = fiber_join(f, NULL, 0);
	j.soon = fiber_join(f, NULL, deadline);
	j.early = fiber_now() < deadline;
	fiber_unpark(f);
	j.again = fiber_join(f, NULL, FIBER_FOREVER);
	expect_joins(&j);
	carriers_finish(rt);
}

/* -- detached, outliving the spawner -- */

static atomic_uint ended;
static atomic_bool released;

static void *end_when_released(void *arg)
{
	while (!released)
		fiber_sleep(MS / 10);
	ended++;
	return arg;
}

static void *spawn_and_go(void *arg)
{
	struct fiber *f;
	const struct fiber_attr detached = {.size = sizeof detached, .flags = FIBER_DETACHED};

	if (fiber_spawn(end_when_released, NULL, NULL) < 0 ||
	    fiber_spawn_attr(&detached, end_when_released, NULL, &f) < 0 ||
	    fiber_spawn(end_when_released, NULL, &f) < 0 || fiber_detach(f) < 0)
		return NULL;
	return arg;
}

static void test_life_detached_fibers_outlive_their_spawner(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber_result r = {NULL, 1};
	struct fiber *f;

	(void)state;
	ended = 0;
	released = false;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, spawn_and_go, rt, &f), 0);
	assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
	assert_non_null(r.value);
	assert_false(fiber_runtime_done(rt));
	assert_int_equal(fiber_runtime_finish(rt, 0), -ETIMEDOUT);
	assert_int_equal(ended, 0);
	released = true;
	carriers_finish(rt);
	assert_int_equal(ended, 3);
}

static void *detach_the_dead(void *arg)
{
	struct fiber *f;

	if (fiber_spawn(twice, NULL, &f) < 0)
		return NULL;
	while (fiber_state(f) != FIBER_DEAD)
		fiber_yield();
	return fiber_detach(f) == 0 ? arg : NULL;
}

static void test_life_fiber_that_has_ended_can_be_detached(void **state)
{
	(void)state;
	assert_non_null(carriers_run(detach_the_dead, state).value);
}

/* -- from threads -- */

struct thread {
	struct fiber_runtime *rt;
	intptr_t sum;
};

static void *spawn_from_thread(void *arg)
{
	struct thread *t = arg;
	struct fiber_result r;
	struct fiber *f[20];

	for (int round = 0; round < 20; round++) {
		for (intptr_t i = 0; i < 20; i++)
			if (fiber_runtime_spawn(t->rt, NULL, yield_a_while, (void *)i, &f[i]) < 0)
				return NULL;
		for (int i = 0; i < 20; i++)
			if (fiber_join(f[i], &r, FIBER_FOREVER) == 0)
				t->sum += (intptr_t)r.value;
	}
	return NULL;
}

static void test_life_threads_spawn_and_join_at_once(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct thread threads[4];
	pthread_t ids[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		threads[i] = (struct thread){rt, 0};
		assert_int_equal(pthread_create(&ids[i], NULL, spawn_from_thread, &threads[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(ids[i], NULL);
		assert_int_equal(threads[i].sum, 20 * 190);
	}
	assert_true(fiber_runtime_done(rt));
	carriers_finish(rt);
}

static void test_life_created_fiber_waits_until_it_is_submitted(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	const struct fiber_attr attr = {.size = sizeof attr, .name = "later", .stack_size = 65536};
	struct fiber_result r = {NULL, 1};
	struct fiber *f, *never;

	(void)state;
	assert_int_equal(fiber_create(&attr, twice, (void *)5, &f), 0);
	assert_int_equal(fiber_create(NULL, twice, (void *)5, &never), 0);
	assert_int_equal(fiber_state(f), FIBER_CREATED);
	assert_string_equal(fiber_name(f), "later");
	assert_true(fiber_id(never) > fiber_id(f));
	assert_int_equal(fiber_join(f, NULL, 0), -ETIMEDOUT);
	assert_int_equal(fiber_submit(rt, f), 0);
	assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)r.value, 10);
	assert_int_equal(fiber_detach(never), 0);
	carriers_finish(rt);
}

static void test_life_nothing_is_spawned_outside_a_fiber(void **state)
{
	struct fiber *f = NULL;

	(void)state;
	assert_int_equal(fiber_spawn(twice, NULL, &f), -EPERM);
	assert_int_equal(fiber_spawn_attr(NULL, twice, NULL, NULL), -EPERM);
	assert_int_equal(fiber_yield(), -EPERM);
	assert_int_equal(fiber_park(0), -EPERM);
	assert_false(fiber_can_yield());
	assert_null(fiber_self());
	assert_null(f);
}

/* -- the caller's stack -- */

static void *address_of_a_local(void *arg)
{
	char local[64];

	snprintf(local, sizeof local, "%p", arg);
	fiber_yield();
	return (void *)(uintptr_t)(strtoul(local, NULL, 16) ? (uintptr_t)__builtin_frame_address(0)
							    : 0);
}

static void test_life_fiber_runs_on_the_callers_stack_and_gives_it_back(void **state)
{
	static _Alignas(64) char stack[128 << 10];
	const struct fiber_attr attr = {
		.size = sizeof attr, .stack = stack, .stack_size = sizeof stack};
	struct fiber_runtime *rt = carriers_start();

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct fiber_result r = {NULL, 1};
		struct fiber *f;

		assert_int_equal(fiber_runtime_spawn(rt, &attr, address_of_a_local, stack, &f), 0);
		assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
		assert_true((char *)r.value >= stack && (char *)r.value < stack + sizeof stack);
	}
	carriers_finish(rt);
}

static void test_life_names_are_copied_cut_and_changed(void **state)
{
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_create(NULL, twice, NULL, &f), 0);
	assert_string_equal(fiber_name(f), "");
	assert_int_equal(fiber_set_name(f, "0123456789012345678901234567890123"), 3);
	assert_string_equal(fiber_name(f), "0123456789012345678901234567890");
	assert_int_equal(fiber_set_name(f, NULL), 0);
	assert_string_equal(fiber_name(f), "");
	fiber_detach(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_tree_of_fibers_adds_up),
		cmocka_unit_test(test_life_thousands_one_after_another),
		cmocka_unit_test(test_life_exit_gives_a_value_and_fail_an_error),
		cmocka_unit_test(test_life_join_that_timed_out_can_be_repeated_from_a_fiber),
		cmocka_unit_test(test_life_join_that_timed_out_can_be_repeated_from_a_thread),
		cmocka_unit_test(test_life_detached_fibers_outlive_their_spawner),
		cmocka_unit_test(test_life_fiber_that_has_ended_can_be_detached),
		cmocka_unit_test(test_life_threads_spawn_and_join_at_once),
		cmocka_unit_test(test_life_created_fiber_waits_until_it_is_submitted),
		cmocka_unit_test(test_life_nothing_is_spawned_outside_a_fiber),
		cmocka_unit_test(test_life_fiber_runs_on_the_callers_stack_and_gives_it_back),
		cmocka_unit_test(test_life_names_are_copied_cut_and_changed),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
