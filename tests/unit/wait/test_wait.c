/* SPDX-License-Identifier: MIT */
/* test_wait.c - a wait is recorded, and is decided exactly once */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)

static struct fiber_wait_queue q;

/* What every waiting call does when it must wait. */
static int wait_in(struct fiber_wait_queue *queue, enum fib_wait_kind kind, uint64_t arg,
		   int64_t deadline)
{
	struct fib_waiter w;
	int rc = fib_wait_begin(&w, kind, queue, arg, deadline);

	if (rc < 0)
		return rc;
	fib_queue_lock(queue);
	fib_queue_append(queue, &w);
	fib_queue_unlock(queue);
	rc = fib_wait(&w, deadline);
	if (rc < 0)
		fib_queue_forget(queue, &w);
	return rc;
}

static int64_t far;

static void *waits(void *arg)
{
	must(wait_in(&q, FIB_WAIT_SEM, 77, far) == 0);
	must(fib_load(&fiber_self()->wait_kind) == FIB_WAIT_NONE);
	must(!fiber_self()->timers);
	return arg;
}

static void *sees_the_record(void *arg)
{
	struct fiber_result result;
	struct fiber *f;
	int64_t clock;

	(void)arg;
	far = fiber_after(HOUR);
	must(fiber_spawn(waits, NULL, &f) == 0);
	clock = fib_coarse_now();
	fiber_yield();
	must(fiber_state(f) == FIBER_SUSPENDED);
	must(fib_load(&f->wait_kind) == FIB_WAIT_SEM);
	must(f->wait_object == (uintptr_t)&q);
	must(f->wait_arg == 77);
	must(f->wait_deadline == far);
	must(fib_load(&f->since) >= clock);
	must(f->timers == &fib_carrier_self()->timers);
	must(fib_load(&f->timers->nearest) == far);
	must(fib_queue_wake_one(&q));
	must(fiber_join(f, &result, FIBER_FOREVER) == 0);
	return result.value;
}

static void test_wait_writes_what_it_waits_for_into_the_record(void **state)
{
	(void)state;
	prove(1, sees_the_record, NULL);
}

/*
 * Return a moment that has just passed, also by the coarse clock. No other code updates that clock
 * here: if it is far behind, a wait may start and end at once. It never goes back.
 */
static int64_t just_now(void)
{
	int64_t now;

	do {
		fib_coarse_set(fib_os_now());
		now = fiber_now();
	} while (now - fib_coarse_now() > 1000000);
	return now;
}

static void *past(void *arg)
{
	struct fiber *me = fiber_self();
	uint32_t word = me ? fib_load(&me->parker.word) : 0;
	struct fib_waiter w;

	must(fib_wait_begin(&w, FIB_WAIT_SEM, &q, 0, 0) == -ETIMEDOUT);
	must(fib_wait_begin(&w, FIB_WAIT_SEM, &q, 0, -1) == -ETIMEDOUT);
	must(fib_wait_begin(&w, FIB_WAIT_SEM, &q, 0, INT64_MIN) == -ETIMEDOUT);
	must(fib_wait_begin(&w, FIB_WAIT_SEM, &q, 0, just_now()) == -ETIMEDOUT);
	/* Nothing was armed or recorded. */
	must(!me || fib_load(&me->parker.word) == word);
	must(!me || fib_load(&me->wait_kind) == FIB_WAIT_NONE);
	must(!me || fiber_state(me) == FIBER_RUNNING);
	return arg;
}

static void test_wait_with_a_deadline_in_the_past_does_not_begin(void **state)
{
	(void)state;
	prove(1, past, NULL);
	assert_null(past(NULL));
}

static void *takes_back(void *arg)
{
	static struct fib_waiter
		w; /* the analyser does not see that it is out of the queue again */
	struct fiber *me = fiber_self();
	struct fib_wake wake;

	must(fib_wait_begin(&w, FIB_WAIT_MUTEX, &q, 0, FIBER_FOREVER) == 0);
	must(!me || fiber_state(me) == FIBER_SUSPENDED);
	fib_wait_abort(&w);
	must(!me || fiber_state(me) == FIBER_RUNNING);
	must(!me || fib_load(&me->wait_kind) == FIB_WAIT_NONE);
	must(!fib_wait_retract(&w)); /* only once */

	/*
	 * The retraction is too late: the wait was granted already, and fib_wait reports it at
	 * once.
	 */
	must(fib_wait_begin(&w, FIB_WAIT_MUTEX, &q, 0, FIBER_FOREVER) == 0);
	fib_queue_append(&q, &w);
	must(fib_queue_claim_first(&q, &wake));
	must(!fib_wait_retract(&w));
	fib_wake(&wake, true);
	must(fib_wait(&w, FIBER_FOREVER) == 0);
	return arg;
}

static void test_wait_can_be_taken_back_until_it_is_decided(void **state)
{
	(void)state;
	prove(1, takes_back, NULL);
	prove(2, takes_back, NULL);
	assert_null(takes_back(NULL));
}

static void *times_out(void *arg)
{
	int64_t deadline = fiber_after(2000000);

	must(wait_in(&q, FIB_WAIT_SEM, 0, deadline) == -ETIMEDOUT);
	must(fiber_now() >= deadline);
	must(!q.head);
	must(!fib_queue_wake_one(&q));
	must(!fiber_self() || !fiber_self()->timers);
	return arg;
}

static void test_wait_times_out_in_a_fiber_and_in_a_thread(void **state)
{
	(void)state;
	prove(1, times_out, NULL);
	prove(2, times_out, NULL);
	assert_null(times_out(NULL));
}

static void *knows_itself(void *arg)
{
	must(fib_caller() == fiber_id(fiber_self()));
	return arg;
}

static void test_wait_caller_is_a_fiber_or_a_thread(void **state)
{
	(void)state;
	prove(1, knows_itself, NULL);
	assert_true(fib_caller() == (FIB_HOLDER_THREAD | fib_os_tid()));
}

/* -- a wake-up and a deadline at the same moment -- */

#define RACES 4000u

static _Atomic bool racing;
static _Atomic unsigned granted, timed_out, wakes;

/* Deadlines of some microseconds, so that each side wins sometimes. */
static void *races(void *arg)
{
	unsigned i;
	int rc;

	for (i = 0; i < RACES; i++) {
		rc = wait_in(&q, FIB_WAIT_SEM, 0, fiber_after(1000 + i % 64 * 500));
		must(rc == 0 || rc == -ETIMEDOUT);
		fib_add_relaxed(rc == 0 ? &granted : &timed_out, 1);
	}
	return arg;
}

static void *wakes_others(void *arg)
{
	while (fib_load(&racing)) {
		if (fib_queue_wake_one(&q))
			fib_add_relaxed(&wakes, 1);
		else if (fiber_self())
			fiber_yield();
		else
			sched_yield();
	}
	return arg;
}

static void begin_races(void)
{
	fib_store(&racing, true);
	fib_store(&granted, 0);
	fib_store(&timed_out, 0);
	fib_store(&wakes, 0);
}

/* Check that every grant reached exactly one waiter, and every waiter got exactly one result. */
static void check_races(unsigned racers)
{
	assert_int_equal(fib_load(&granted), fib_load(&wakes));
	assert_int_equal(fib_load(&granted) + fib_load(&timed_out), racers * RACES);
	assert_null(q.head);
	assert_null(q.head);
}

static void test_wait_of_a_fiber_is_won_by_a_wake_up_or_its_deadline_never_both(void **state)
{
	struct fiber_result result;
	struct fiber *f[3], *waker;
	struct fib_sched s;
	pthread_t thread;
	unsigned i;

	(void)state;
	begin_races();
	carriers_start(&s, 2);
	assert_int_equal(pthread_create(&thread, NULL, wakes_others, NULL), 0);
	waker = carriers_spawn(&s, "waker", wakes_others, NULL);
	for (i = 0; i < 3; i++)
		f[i] = carriers_spawn(&s, "racer", races, NULL);
	for (i = 0; i < 3; i++) {
		assert_int_equal(fiber_join(f[i], &result, FIBER_FOREVER), 0);
		assert_null(result.value);
	}
	fib_store(&racing, false);
	assert_int_equal(fiber_join(waker, NULL, FIBER_FOREVER), 0);
	pthread_join(thread, NULL);
	check_races(3);
	for (i = 0; i < 2; i++)
		assert_int_equal(s.carriers[i].timers.count, 0);
	carriers_stop(&s);
}

static void test_wait_of_a_thread_is_won_by_a_wake_up_or_its_deadline_never_both(void **state)
{
	pthread_t thread;

	(void)state;
	begin_races();
	assert_int_equal(pthread_create(&thread, NULL, wakes_others, NULL), 0);
	assert_null(races(NULL));
	fib_store(&racing, false);
	pthread_join(thread, NULL);
	check_races(1);
}

/* -- fibers and threads in one queue -- */

#define GRANTS 3000u

static void *takes_its_share(void *arg)
{
	unsigned i;

	for (i = 0; i < GRANTS; i++)
		must(wait_in(&q, FIB_WAIT_SEM, 0, FIBER_FOREVER) == 0);
	return arg;
}

static void test_wait_mixes_fibers_and_threads_and_loses_no_grant(void **state)
{
	struct fiber_result result;
	struct fib_sched s;
	struct fiber *f[2];
	pthread_t thread;
	unsigned i, given = 0;
	void *broken;

	(void)state;
	carriers_start(&s, 2);
	assert_int_equal(pthread_create(&thread, NULL, takes_its_share, NULL), 0);
	for (i = 0; i < 2; i++)
		f[i] = carriers_spawn(&s, "taker", takes_its_share, NULL);
	while (given < 3 * GRANTS) {
		if (fib_queue_wake_one(&q))
			given++;
		else
			sched_yield();
	}
	pthread_join(thread, &broken);
	assert_null(broken);
	for (i = 0; i < 2; i++) {
		assert_int_equal(fiber_join(f[i], &result, FIBER_FOREVER), 0);
		assert_null(result.value);
	}
	assert_null(q.head);
	carriers_stop(&s);
}

/* -- pinned -- */

static void *blocks(void *arg)
{
	struct fiber_wait_queue nobodys = {0};
	struct fiber *me = fiber_self();
	struct fib_waiter w;

	fiber_pin();
	must(fib_wait_begin(&w, FIB_WAIT_COND, &q, 5, FIBER_FOREVER) == 0);
	/* Other threads see a running fiber that shows what it waits for. */
	must(fiber_state(me) == FIBER_RUNNING);
	must(fib_load(&me->wait_kind) == FIB_WAIT_COND);
	must(me->wait_object == (uintptr_t)&q);
	fib_wait_abort(&w);
	must(wait_in(&nobodys, FIB_WAIT_COND, 5, fiber_after(2000000)) == -ETIMEDOUT);
	must(wait_in(&q, FIB_WAIT_COND, 5, FIBER_FOREVER) == 0);
	must(fib_load(&me->wait_kind) == FIB_WAIT_NONE);
	must(!me->timers);
	/* It never left its carrier: it was entered once. */
	must(fib_load(&me->seq) == 1);
	fiber_unpin();
	return arg;
}

static void test_wait_of_a_pinned_fiber_blocks_its_carrier(void **state)
{
	struct fiber_result result;
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	carriers_start(&s, 1);
	f = carriers_spawn(&s, "pinned", blocks, NULL);
	while (!fib_queue_wake_one(&q))
		sched_yield();
	assert_int_equal(fiber_join(f, &result, FIBER_FOREVER), 0);
	assert_null(result.value);
	carriers_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait_writes_what_it_waits_for_into_the_record),
		cmocka_unit_test(test_wait_with_a_deadline_in_the_past_does_not_begin),
		cmocka_unit_test(test_wait_can_be_taken_back_until_it_is_decided),
		cmocka_unit_test(test_wait_times_out_in_a_fiber_and_in_a_thread),
		cmocka_unit_test(test_wait_caller_is_a_fiber_or_a_thread),
		cmocka_unit_test(
			test_wait_of_a_fiber_is_won_by_a_wake_up_or_its_deadline_never_both),
		cmocka_unit_test(
			test_wait_of_a_thread_is_won_by_a_wake_up_or_its_deadline_never_both),
		cmocka_unit_test(test_wait_mixes_fibers_and_threads_and_loses_no_grant),
		cmocka_unit_test(test_wait_of_a_pinned_fiber_blocks_its_carrier),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
