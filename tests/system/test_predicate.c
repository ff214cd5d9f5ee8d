/* SPDX-License-Identifier: MIT */
/* test_predicate.c - many fibers and threads wait for predicates that change without a wake-up */
#include "carriers.h"
#include "tests/harness/fibers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

struct stairs {
	atomic_int step;
	atomic_int wrong;
};

struct climber {
	struct stairs *stairs;
	int mine;
};

static bool my_step(void *arg)
{
	struct climber *c = arg;

	return c->stairs->step == c->mine;
}

/* Each climber waits for the step of the previous one. */
static void *climb(void *arg)
{
	struct climber *c = arg;

	if (fiber_wait_until(my_step, c, FIBER_FOREVER) < 0)
		c->stairs->wrong++;
	c->stairs->step++;
	return NULL;
}

static void test_predicate_is_waited_for_by_many_fibers_and_threads(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct stairs stairs = {0};
	struct climber climbers[40];
	struct fiber *fibers[40];
	pthread_t threads[40];

	(void)state;
	for (int i = 39; i >= 0; i--) {
		climbers[i] = (struct climber){&stairs, i};
		if (i % 5)
			assert_int_equal(
				fiber_runtime_spawn(rt, NULL, climb, &climbers[i], &fibers[i]), 0);
		else
			assert_int_equal(pthread_create(&threads[i], NULL, climb, &climbers[i]), 0);
	}
	for (int i = 0; i < 40; i++) {
		if (i % 5)
			assert_int_equal(fiber_join(fibers[i], NULL, FIBER_FOREVER), 0);
		else
			pthread_join(threads[i], NULL);
	}
	assert_int_equal(stairs.step, 40);
	assert_int_equal(stairs.wrong, 0);
	carriers_finish(rt);
}

static void *give_up(void *arg)
{
	int64_t deadline = fiber_after(3 * MS);
	int rc = fiber_wait_until(harness_never, arg, deadline);

	return (void *)(intptr_t)(rc == -ETIMEDOUT && fiber_now() < deadline ? -ETIME : rc);
}

static void test_predicate_that_never_holds_is_given_up_at_the_deadline(void **state)
{
	(void)state;
	assert_int_equal((intptr_t)carriers_run(give_up, NULL).value, -ETIMEDOUT);
	assert_int_equal((intptr_t)give_up(NULL), -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_predicate_is_waited_for_by_many_fibers_and_threads),
		cmocka_unit_test(test_predicate_that_never_holds_is_given_up_at_the_deadline),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
