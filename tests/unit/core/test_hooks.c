/* SPDX-License-Identifier: MIT */
/* test_hooks.c - a collector hears of each fiber and of each thread of libfiber, at both ends */
#include "tests/system/carriers.h"

#include <errno.h>
#include <pthread.h>

#include "tests/harness/fibers.h"

#define FIBERS 300u

static char argument;
static _Atomic unsigned created, ended, began, finished, wrong;

static void on_created(struct fiber *fiber, void *arg)
{
	wrong += arg != &argument || !fiber_id(fiber) || fiber == fiber_self();
	created++;
}

static void on_ended(struct fiber *fiber, void *arg)
{
	wrong += arg != &argument || fiber != fiber_self();
	ended++;
}

static void *on_began(void *arg)
{
	wrong += arg != &argument || fiber_self() != NULL;
	began++;
	return (void *)(uintptr_t)pthread_self();
}

static void on_finished(void *thread, void *arg)
{
	wrong += arg != &argument || thread != (void *)(uintptr_t)pthread_self();
	finished++;
}

static const struct fiber_gc_hooks hooks = {.size = sizeof hooks,
					    .arg = &argument,
					    .fiber_created = on_created,
					    .fiber_ended = on_ended,
					    .thread_began = on_began,
					    .thread_ended = on_finished};

static void *make_fibers(void *arg)
{
	const struct fiber_attr detached = {.size = sizeof detached, .flags = FIBER_DETACHED};
	struct fiber *fiber;

	for (unsigned i = 0; i < FIBERS; i++) {
		wrong += fiber_spawn(harness_nothing, NULL, NULL) != 0;
		wrong += fiber_spawn_attr(&detached, harness_nothing, NULL, NULL) != 0;
		if (fiber_create(NULL, harness_nothing, NULL, &fiber) < 0)
			wrong++;
		else if (fiber_submit(NULL, fiber) < 0 || fiber_join(fiber, NULL, FIBER_FOREVER))
			wrong++;
	}
	/* It never is runnable. */
	if (fiber_create(NULL, harness_nothing, NULL, &fiber) == 0)
		fiber_detach(fiber);
	return arg;
}

static void test_gc_hooks_hear_of_each_fiber_and_carrier_once(void **state)
{
	(void)state;
	created = ended = began = finished = 0;
	assert_int_equal(fiber_gc_set_hooks(&hooks), 0);
	carriers_run(make_fibers, NULL);
	assert_int_equal(created, 3 * FIBERS + 1);
	assert_int_equal(ended, created);
	assert_int_equal(began, carriers());
	assert_int_equal(finished, began);
	assert_int_equal(wrong, 0);
	assert_int_equal(fiber_gc_set_hooks(NULL), 0);
	carriers_run(make_fibers, NULL);
	assert_int_equal(created, 3 * FIBERS + 1);
	assert_int_equal(ended, created);
	assert_int_equal(began, carriers());
}

static void *block(void *arg)
{
	wrong += fiber_block(harness_nothing, NULL, NULL, FIBER_FOREVER) != 0;
	return arg;
}

static void test_gc_hooks_hear_of_the_threads_of_blocking_calls(void **state)
{
	(void)state;
	began = finished = 0;
	assert_int_equal(fiber_gc_set_hooks(&hooks), 0);
	carriers_run(block, NULL);
	assert_int_equal(began, carriers() + 1);
	/* The thread rests for some seconds, and keeps the hooks that it began with. */
	assert_int_equal(fiber_gc_set_hooks(NULL), 0);
	while (finished < began)
		sched_yield();
	assert_int_equal(wrong, 0);
}

static void *set_within(void *arg)
{
	return (void *)(intptr_t)(fiber_gc_set_hooks(arg) == -EBUSY);
}

static void test_gc_hooks_are_set_only_while_there_is_no_runtime(void **state)
{
	struct fiber_gc_hooks other = hooks;

	(void)state;
	assert_true(carriers_run(set_within, (void *)(uintptr_t)&hooks).value != NULL);
	assert_true(carriers_run(set_within, NULL).value != NULL);
	other.size--;
	assert_int_equal(fiber_gc_set_hooks(&other), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gc_hooks_hear_of_each_fiber_and_carrier_once),
		cmocka_unit_test(test_gc_hooks_hear_of_the_threads_of_blocking_calls),
		cmocka_unit_test(test_gc_hooks_are_set_only_while_there_is_no_runtime),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
