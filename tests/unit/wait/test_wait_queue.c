/* SPDX-License-Identifier: MIT */
/* test_wait_queue.c - first come, first served, and a node that leaves keeps the others linked */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define N 6u

static struct fiber_wait_queue q;
/* A plain thread's waits, all started and none waited for: each has its own parker. */
static struct fib_waiter w[N];

static int setup(void **state)
{
	unsigned i;

	(void)state;
	memset(&q, 0, sizeof q);
	for (i = 0; i < N; i++) {
		if (fib_wait_begin(&w[i], FIB_WAIT_SEM, &q, 0, FIBER_FOREVER) < 0)
			return -1;
		fib_queue_append(&q, &w[i]);
	}
	return 0;
}

/* Check that the queue has exactly these waiters, in this order, forwards and backwards. */
static void holds(const char *numbers)
{
	struct fib_list *link = q.head, *before = NULL;
	unsigned n = 0;

	for (; *numbers; numbers++, link = link->next) {
		assert_ptr_equal(link, &w[*numbers - '0'].link);
		assert_ptr_equal(link->prev, before);
		before = link;
		n++;
	}
	assert_null(link);
	assert_ptr_equal(q.tail, before);
	assert_int_equal(fib_queue_length(&q), n);
	assert_int_equal(fib_queue_has_several(&q), n > 1);
}

static void test_wait_queue_zeroed_is_empty(void **state)
{
	(void)state;
	memset(&q, 0, sizeof q);
	assert_null(fib_queue_first(&q));
	assert_false(fib_queue_wake_one(&q));
	holds("");
}

static void test_wait_queue_is_first_in_first_out(void **state)
{
	struct fib_wake wake;
	unsigned i;

	(void)state;
	holds("012345");
	for (i = 0; i < N; i++) {
		assert_ptr_equal(fib_queue_first(&q), &w[i]);
		assert_true(fib_queue_claim_first(&q, &wake));
		/* A thread is woken through its word. */
		assert_null(wake.fiber);
		assert_ptr_equal(wake.word, &w[i].own.word);
		assert_int_equal(fib_parker_outcome(w[i].parker), FIB_OUTCOME_WOKEN);
		assert_int_equal(fib_wait(&w[i], FIBER_FOREVER), 0);
	}
	holds("");
}

static void test_wait_queue_forgets_any_waiter(void **state)
{
	(void)state;
	fib_queue_forget(&q, &w[2]);
	holds("01345");
	fib_queue_forget(&q, &w[0]);
	holds("1345");
	fib_queue_forget(&q, &w[5]);
	holds("134");
	fib_queue_forget(&q, &w[5]); /* has no effect */
	holds("134");
	fib_queue_append(&q, &w[2]);
	holds("1342");
	fib_queue_forget(&q, &w[1]);
	fib_queue_forget(&q, &w[4]);
	fib_queue_forget(&q, &w[3]);
	holds("2");
	fib_queue_forget(&q, &w[2]);
	holds("");
	fib_queue_append(&q, &w[3]);
	holds("3");
}

static void test_wait_queue_passes_over_waits_that_were_decided(void **state)
{
	struct fib_wake wake;

	(void)state;
	assert_true(fib_wait_retract(&w[0]));
	assert_true(fib_parker_claim(w[1].parker, w[1].armed, FIB_OUTCOME_TIMED_OUT));
	/* A waiter that cannot be claimed leaves the queue anyway. */
	assert_false(fib_queue_claim_first(&q, &wake));
	holds("12345");
	assert_true(fib_queue_wake_one(&q));
	holds("345");
	assert_int_equal(fib_parker_outcome(w[0].parker), FIB_OUTCOME_IDLE);
	assert_int_equal(fib_parker_outcome(w[1].parker), FIB_OUTCOME_TIMED_OUT);
	assert_int_equal(fib_parker_outcome(w[2].parker), FIB_OUTCOME_WOKEN);
	assert_int_equal(fib_parker_outcome(w[3].parker), FIB_OUTCOME_ARMED);
}

static void test_wait_queue_wake_one_says_when_nobody_was_there_to_wake(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < N; i++)
		fib_wait_abort(&w[i]);
	assert_false(fib_queue_wake_one(&q));
	holds("");
}

/* Threads that were claimed together sleep until each is woken; meanwhile the queue is free for
 * others. */
static void test_wait_queue_claims_all_at_once_and_wakes_them_after(void **state)
{
	struct fib_wake_list list = {NULL, NULL};
	unsigned i;

	(void)state;
	assert_true(fib_wait_retract(&w[2]));
	assert_true(fib_queue_claim_next(&q, &list));
	holds("12345");
	fib_queue_claim_all(&q, &list);
	holds("");
	memset(&q, 0xff, sizeof q);
	for (i = 0; i < N; i++) {
		/* It is too late for any other outcome. */
		assert_false(fib_wait_retract(&w[i]));
		assert_int_equal(fib_parker_outcome(w[i].parker),
				 i == 2 ? FIB_OUTCOME_IDLE : FIB_OUTCOME_CLAIMED);
	}
	fib_wake_all(&list);
	for (i = 0; i < N; i++) {
		if (i == 2)
			continue;
		assert_int_equal(fib_parker_outcome(w[i].parker), FIB_OUTCOME_WOKEN);
		assert_int_equal(fib_wait(&w[i], FIBER_FOREVER), 0);
	}
}

/* -- fibers -- */

static unsigned order[N], woken;

static void *waits(void *arg)
{
	struct fib_waiter mine;

	must(fib_wait_begin(&mine, FIB_WAIT_SEM, &q, 0, FIBER_FOREVER) == 0);
	must(mine.who == fiber_id(fiber_self()));
	fib_queue_lock(&q);
	fib_queue_append(&q, &mine);
	fib_queue_unlock(&q);
	must(fib_wait(&mine, FIBER_FOREVER) == 0);
	order[woken++] = (unsigned)(uintptr_t)arg;
	return NULL;
}

static void *wakes_in_order(void *arg)
{
	struct fiber *f[N];
	uintptr_t i;

	(void)arg;
	woken = 0;
	memset(&q, 0, sizeof q);
	for (i = 0; i < N; i++)
		must(fiber_spawn(waits, (void *)i, &f[i]) == 0);
	fiber_yield();
	must(fib_queue_length(&q) == N);
	for (i = 0; i < N; i++) {
		must(fib_queue_wake_one(&q));
		must(fiber_state(f[i]) == FIBER_RUNNABLE);
		must(fiber_join(f[i], NULL, FIBER_FOREVER) == 0);
		must(woken == i + 1 && order[i] == i);
	}
	must(!fib_queue_wake_one(&q));
	return NULL;
}

static void *wakes_all_in_order(void *arg)
{
	struct fib_wake_list list = {NULL, NULL};
	struct fiber *f[N];
	uintptr_t i;

	(void)arg;
	woken = 0;
	memset(&q, 0, sizeof q);
	for (i = 0; i < N; i++)
		must(fiber_spawn(waits, (void *)i, &f[i]) == 0);
	fiber_yield();
	must(fib_queue_length(&q) == N);
	fib_queue_lock(&q);
	fib_queue_claim_all(&q, &list);
	fib_queue_unlock(&q);
	fib_wake_all(&list);
	for (i = 0; i < N; i++)
		must(fiber_join(f[i], NULL, FIBER_FOREVER) == 0);
	for (i = 0; i < N; i++)
		must(order[i] == i);
	return NULL;
}

static void test_wait_queue_wakes_all_fibers_in_the_order_in_which_they_came(void **state)
{
	(void)state;
	prove(1, wakes_all_in_order, NULL);
}

static void test_wait_queue_wakes_fibers_in_the_order_in_which_they_came(void **state)
{
	(void)state;
	prove(1, wakes_in_order, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait_queue_zeroed_is_empty),
		cmocka_unit_test_setup(test_wait_queue_is_first_in_first_out, setup),
		cmocka_unit_test_setup(test_wait_queue_forgets_any_waiter, setup),
		cmocka_unit_test_setup(test_wait_queue_passes_over_waits_that_were_decided, setup),
		cmocka_unit_test_setup(test_wait_queue_wake_one_says_when_nobody_was_there_to_wake,
				       setup),
		cmocka_unit_test_setup(test_wait_queue_claims_all_at_once_and_wakes_them_after,
				       setup),
		cmocka_unit_test(test_wait_queue_wakes_all_fibers_in_the_order_in_which_they_came),
		cmocka_unit_test(test_wait_queue_wakes_fibers_in_the_order_in_which_they_came),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
