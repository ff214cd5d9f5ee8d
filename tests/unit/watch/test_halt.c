/* SPDX-License-Identifier: MIT */
/* test_halt.c - one thread at a time stops the carriers; each is in the list and tells where it is */
#include "tests/system/carriers.h"

#include <errno.h>
#include <pthread.h>

#include "watch/halt.h"

static void *claim(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fib_halt_claim(fiber_after(MS));
}

static void test_halt_claim_is_of_one_thread(void **state)
{
	void *result = NULL;
	pthread_t thread;

	(void)state;
	assert_int_equal(fib_halt_claim(FIBER_FOREVER), 0);
	assert_int_equal(fib_halt_claim(FIBER_FOREVER), -EDEADLK);
	assert_false(fib_halt_mine());
	assert_int_equal(pthread_create(&thread, NULL, claim, NULL), 0);
	pthread_join(thread, &result);
	assert_int_equal((intptr_t)result, -ETIMEDOUT);
	fib_halt_disclaim();
}

static void test_halt_stops_each_carrier_in_its_handler(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fib_carrier *c;
	unsigned count = 0;

	(void)state;
	assert_int_equal(fib_halt_claim(FIBER_FOREVER), 0);
	assert_int_equal(fib_halt(FIBER_FOREVER), 0);
	assert_true(fib_halt_mine());
	for (c = fib_halted(); c; c = c->halt.next) {
		assert_int_equal(fib_load(&c->halt.state), FIB_HALT_HALTED);
		assert_true(c->halt.at > 0);
		assert_true(c->halt.stack_low < c->halt.stack_high);
		count++;
	}
	assert_int_equal(count, carriers());
	fib_halt_end();
	assert_null(fib_halted());
	assert_false(fib_halt_mine());
	fib_halt_disclaim();
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_halt_claim_is_of_one_thread),
		cmocka_unit_test(test_halt_stops_each_carrier_in_its_handler),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
