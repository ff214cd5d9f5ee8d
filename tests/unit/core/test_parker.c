/* SPDX-License-Identifier: MIT */
/* test_parker.c - of all wakers of a wait exactly one wins, and none of them wins a later wait */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "core/parker.h"
#include "os/os.h"
#include "tests/harness/watchdog.h"

#define WAKERS 3
#define WAITS  20000u

static struct fib_parker parker;

static void test_parker_is_claimed_once(void **state)
{
	uint32_t armed = fib_parker_arm(&parker, FIB_OUTCOME_ARMED);

	(void)state;
	assert_int_equal(fib_parker_outcome(&parker), FIB_OUTCOME_ARMED);
	assert_true(fib_parker_claim(&parker, armed, FIB_OUTCOME_TIMED_OUT));
	assert_false(fib_parker_claim(&parker, armed, FIB_OUTCOME_WOKEN));
	assert_int_equal(fib_parker_outcome(&parker), FIB_OUTCOME_TIMED_OUT);
}

static void test_parker_late_waker_does_not_touch_the_next_wait(void **state)
{
	uint32_t first = fib_parker_arm(&parker, FIB_OUTCOME_ARMED), second;

	(void)state;
	assert_true(fib_parker_claim(&parker, first, FIB_OUTCOME_TIMED_OUT));
	second = fib_parker_arm(&parker, FIB_OUTCOME_ARMED);
	assert_int_not_equal(first, second);
	assert_false(fib_parker_claim(&parker, first, FIB_OUTCOME_WOKEN));
	assert_int_equal(fib_parker_outcome(&parker), FIB_OUTCOME_ARMED);
	assert_true(fib_parker_claim(&parker, second, FIB_OUTCOME_WOKEN));
}

static void test_parker_ticket_goes_round_without_touching_the_outcome(void **state)
{
	struct fib_parker old = {.word = UINT32_MAX & ~FIB_OUTCOME_MASK};
	uint32_t armed;

	(void)state;
	armed = fib_parker_arm(&old, FIB_OUTCOME_ARMED_PARK);
	assert_int_equal(armed, FIB_OUTCOME_ARMED_PARK);
	assert_int_equal(fib_parker_outcome(&old), FIB_OUTCOME_ARMED_PARK);
	assert_true(fib_parker_claim(&old, armed, FIB_OUTCOME_WOKEN));
}

static _Atomic uint32_t offered, wins[WAKERS], stopped;
static uint64_t written; /* the winner writes it before the claim, the waiter reads it afterwards */

static void *wake(void *arg)
{
	_Atomic uint32_t *mine = arg;
	uint32_t seen = 0, word;

	while (!fib_load(&stopped)) {
		word = fib_load_acquire(&offered);
		if (word == seen) {
			fib_os_yield();
			continue;
		}
		seen = word;
		if (fib_parker_claim(&parker, word, FIB_OUTCOME_WOKEN))
			fib_add_relaxed(mine, 1);
	}
	return NULL;
}

static void test_parker_has_one_winner_among_threads(void **state)
{
	uint32_t i, total = 0, open = 0;
	pthread_t threads[WAKERS];

	(void)state;
	for (i = 0; i < WAKERS; i++)
		pthread_create(&threads[i], NULL, wake, &wins[i]);
	for (i = 0; i < WAITS; i++) {
		uint32_t armed = fib_parker_arm(&parker, FIB_OUTCOME_ARMED);

		fib_store_release(&offered, armed);
		while (fib_parker_outcome(&parker) == FIB_OUTCOME_ARMED)
			fib_os_yield();
		open += fib_parker_outcome(&parker) != FIB_OUTCOME_WOKEN;
	}
	fib_store(&stopped, 1);
	for (i = 0; i < WAKERS; i++) {
		pthread_join(threads[i], NULL);
		total += fib_load(&wins[i]);
	}
	assert_int_equal(total, WAITS);
	assert_int_equal(open, 0);
}

static struct fib_parker handing;
static _Atomic uint32_t handed;

static void *hand_over(void *arg)
{
	uint32_t i;

	(void)arg;
	for (i = 1; i <= WAITS; i++) {
		uint32_t armed;

		while ((armed = fib_load_acquire(&handed)) == 0)
			fib_os_yield();
		fib_store(&handed, 0);
		written = i; /* plain store: the claim must publish it */
		fib_parker_claim(&handing, armed, FIB_OUTCOME_WOKEN);
	}
	return NULL;
}

static void test_parker_waiter_sees_what_the_winner_did_before(void **state)
{
	uint32_t i, wrong = 0;
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, hand_over, NULL);
	for (i = 1; i <= WAITS; i++) {
		fib_store_release(&handed, fib_parker_arm(&handing, FIB_OUTCOME_ARMED));
		while (fib_parker_outcome(&handing) == FIB_OUTCOME_ARMED)
			fib_os_yield();
		wrong += written != i;
	}
	pthread_join(thread, NULL);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parker_is_claimed_once),
		cmocka_unit_test(test_parker_late_waker_does_not_touch_the_next_wait),
		cmocka_unit_test(test_parker_ticket_goes_round_without_touching_the_outcome),
		cmocka_unit_test(test_parker_has_one_winner_among_threads),
		cmocka_unit_test(test_parker_waiter_sees_what_the_winner_did_before),
	};

	harness_watchdog(90);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
