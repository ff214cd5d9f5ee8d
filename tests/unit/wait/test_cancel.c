/* SPDX-License-Identifier: MIT */
/* test_cancel.c - the flag stays, the wait ends, and an unused grant goes to the next waiter */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "layout/own_tls.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "tests/unit/sched/misuse.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define HOUR INT64_C(3600000000000)

static struct fiber_wait_queue q;

static int wait_in_queue(bool firm)
{
	struct fib_waiter w;
	int rc = firm ? fib_wait_begin_uncancellable(&w, FIB_WAIT_SEM, &q, 0, FIBER_FOREVER)
		      : fib_wait_begin(&w, FIB_WAIT_SEM, &q, 0, FIBER_FOREVER);

	if (rc < 0)
		return rc;
	fib_queue_lock(&q);
	fib_queue_append(&q, &w);
	fib_queue_unlock(&q);
	return fib_queue_wait(&q, &w, FIBER_FOREVER);
}

static void *parks(void *arg)
{
	must(fiber_park(FIBER_FOREVER) == -ECANCELED);
	must(fiber_cancelled());
	must(fiber_park(0) == -ECANCELED);
	must(fiber_sleep(0) == -ECANCELED);
	must(fiber_sleep(1) == -ECANCELED);
	must(wait_in_queue(false) == -ECANCELED);
	must(fiber_state(fiber_self()) == FIBER_RUNNING);
	must(fiber_yield() == 0);
	return arg;
}

static void *sleeps(void *arg)
{
	must(fiber_sleep(HOUR) == -ECANCELED);
	must(!fiber_self()->timers);
	must(fib_load(&fib_carrier_self()->timers.nearest) == INT64_MAX);
	return arg;
}

static void *queues(void *arg)
{
	must(wait_in_queue(false) == -ECANCELED);
	return arg;
}

static void *joins(void *arg)
{
	must(fiber_join(arg, NULL, FIBER_FOREVER) == -ECANCELED);
	return NULL;
}

/* Wait until f is suspended; called from a fiber. */
static void await_wait(struct fiber *f)
{
	while (fiber_state(f) != FIBER_SUSPENDED)
		fiber_yield();
}

static const char *cancel_in(fiber_fn *fn, void *arg)
{
	struct fiber_result r = {NULL, 1};
	struct fiber *f;

	if (fiber_spawn(fn, arg, &f) < 0)
		return "spawn";
	await_wait(f);
	fiber_cancel(f);
	if (fiber_join(f, &r, FIBER_FOREVER) < 0)
		return "join";
	return r.value ? r.value : r.error == -ECANCELED ? NULL : "its error is not -ECANCELED";
}

static void *in_each(void *arg)
{
	const char *what;
	struct fiber *f;

	(void)arg;
	what = cancel_in(parks, NULL);
	must(!what);
	what = cancel_in(sleeps, NULL);
	must(!what);
	what = cancel_in(queues, NULL);
	must(!what);
	must(!q.head);
	must(fiber_spawn(queues, NULL, &f) == 0);
	what = cancel_in(joins, f);
	must(!what);
	/* The fiber can be joined again after a join was cancelled. */
	fiber_cancel(f);
	must(fiber_join(f, NULL, FIBER_FOREVER) == 0);
	return NULL;
}

static void test_cancel_ends_each_kind_of_wait_and_all_that_follow(void **state)
{
	(void)state;
	prove(1, in_each, NULL);
}

static void *cancelled_early(void *arg)
{
	bool *ran = arg;

	*ran = true;
	return fiber_cancelled() ? (void *)(intptr_t)fiber_park(FIBER_FOREVER) : NULL;
}

static void *before_it_runs(void *arg)
{
	struct fiber_result r = {NULL, 1};
	bool ran = false;
	struct fiber *f;

	(void)arg;
	must(fiber_create(NULL, cancelled_early, &ran, &f) == 0);
	must(fiber_cancel(f) == 0);
	must(fib_submit(fiber_self()->sched, f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(ran);
	must((intptr_t)r.value == -ECANCELED);
	must(r.error == -ECANCELED);
	/* The next fiber in the record starts without the flag. */
	must(fiber_spawn(cancelled_early, &ran, &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(!r.value && !r.error);
	return NULL;
}

static void test_cancel_before_it_runs_lets_it_run_and_never_wait(void **state)
{
	(void)state;
	prove(1, before_it_runs, NULL);
}

/* More fibers than the records that earlier tests have used. */
static void test_cancel_of_a_fiber_in_a_new_record_finds_no_wait(void **state)
{
	static struct fiber *f[2000];
	struct fib_sched s;
	size_t i;

	(void)state;
	carriers_start(&s, 1);
	for (i = 0; i < fib_countof(f); i++) {
		assert_int_equal(fiber_create(NULL, joins, NULL, &f[i]), 0);
		assert_int_equal(fiber_cancel(f[i]), 0);
	}
	for (i = 0; i < fib_countof(f); i++) {
		assert_int_equal(fiber_state(f[i]), FIBER_CREATED);
		fiber_detach(f[i]);
	}
	carriers_stop(&s);
}

static void *fails(void *arg)
{
	(void)arg;
	fiber_cancel(fiber_self());
	fiber_fail(-EIO, "the disk");
}

static void *errors(void *arg)
{
	struct fiber_result r = {NULL, 1};
	bool ran = false;
	struct fiber *f;

	(void)arg;
	must(fiber_spawn(fails, NULL, &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.error == -EIO);
	must(fiber_spawn(cancelled_early, &ran, &f) == 0);
	while (fiber_state(f) != FIBER_DEAD)
		fiber_yield();
	fiber_cancel(f);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.error == 0);
	return NULL;
}

static void test_cancel_changes_neither_a_failure_nor_what_has_ended(void **state)
{
	(void)state;
	prove(1, errors, NULL);
}

static void *token_first(void *arg)
{
	(void)arg;
	fiber_unpark(fiber_self());
	fiber_cancel(fiber_self());
	must(fiber_park(FIBER_FOREVER) == 0);
	must(fiber_park(FIBER_FOREVER) == -ECANCELED);
	return NULL;
}

static void test_cancel_does_not_take_a_token(void **state)
{
	(void)state;
	prove(1, token_first, NULL);
}

static void *waits_in_queue(void *arg)
{
	return (void *)(intptr_t)wait_in_queue(arg != NULL);
}

static void *grants(void *arg)
{
	struct fiber_result r = {NULL, 1};
	struct fiber *f[3];
	int i;

	(void)arg;
	for (i = 0; i < 3; i++) {
		must(fiber_spawn(waits_in_queue, i == 2 ? &q : NULL, &f[i]) == 0);
		await_wait(f[i]);
	}
	/* A fiber that was claimed and has not run yet is still in the queue, and is skipped. */
	fiber_cancel(f[0]);
	must(fib_queue_length(&q) == 3);
	must(fib_queue_wake_one(&q));
	must(fiber_join(f[0], &r, FIBER_FOREVER) == 0 && (intptr_t)r.value == -ECANCELED);
	must(fiber_join(f[1], &r, FIBER_FOREVER) == 0 && r.value == NULL);
	/* A firm wait is not ended by a cancellation. */
	fiber_cancel(f[2]);
	fiber_yield();
	must(fib_queue_length(&q) == 1);
	must(fiber_state(f[2]) == FIBER_SUSPENDED);
	must(fib_queue_wake_one(&q));
	must(fiber_join(f[2], &r, FIBER_FOREVER) == 0 && r.value == NULL);
	must(r.error == -ECANCELED);
	return NULL;
}

static void test_cancel_leaves_the_grant_to_the_next_and_a_firm_wait_alone(void **state)
{
	(void)state;
	prove(1, grants, NULL);
}

static void *waits_pinned(void *arg)
{
	intptr_t rc;

	(void)arg;
	fiber_pin();
	rc = wait_in_queue(false);
	fiber_unpin();
	return (void *)rc;
}

static void test_cancel_wakes_a_pinned_fiber_that_blocks_its_carrier(void **state)
{
	struct fiber_result r = {NULL, 1};
	struct fib_sched s;
	struct fiber *f;
	uint32_t length;

	(void)state;
	carriers_start(&s, 1);
	f = carriers_spawn(&s, "pinned", waits_pinned, NULL);
	do {
		sched_yield();
		fib_queue_lock(&q);
		length = fib_queue_length(&q);
		fib_queue_unlock(&q);
	} while (length != 1);
	assert_int_equal(fiber_cancel(f), 0);
	assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)r.value, -ECANCELED);
	assert_null(q.head);
	carriers_stop(&s);
}

static void test_cancel_of_a_thread_is_not_asked(void **state)
{
	(void)state;
	assert_false(fiber_cancelled());
}

/* -- the gap, with real threads -- */

#define ROUNDS 3000

static void *loops(void *arg)
{
	intptr_t rounds = 0;

	while (fiber_park(FIBER_FOREVER) == 0)
		rounds++;
	return arg ? (void *)rounds : NULL;
}

/* fenced: behave as if the kernel had no membarrier(2). */
static void end_loops(bool fenced)
{
	struct fib_sched s;
	int i, bad = 0;

	carriers_start(&s, 2);
	if (fenced)
		fib_store(&fib_cancel_fenced_by_waiters, 1);
	for (i = 0; i < ROUNDS; i++) {
		struct fiber *f = carriers_spawn(&s, "loops", loops, NULL);
		struct fiber_result r = {NULL, 1};
		int k;

		for (k = 0; k < i % 7; k++)
			fiber_unpark(f);
		fiber_cancel(f);
		assert_int_equal(fiber_join(f, &r, fiber_after(LIMIT_S * INT64_C(1000000000))), 0);
		bad += r.error != -ECANCELED;
	}
	assert_int_equal(bad, 0);
	carriers_stop(&s);
}

static void test_cancel_against_arming_and_unpark_always_ends_the_loop(void **state)
{
	(void)state;
	end_loops(false);
	end_loops(true);
}

/* -- one wait only -- */

#define WAITS 2000

/* Waits that may be ended and waits that may not, in turn. Both are unparked too. */
static struct flagged {
	bool flag; /* as libfiber-posix has it: of the waiter, read by others */
	_Atomic bool done;
	struct fiber *_Atomic waiter;
	int ended, woken;
} flagged;

static void *waits_in_turn(void *arg)
{
	struct flagged *s = arg;

	for (int i = 0; i < WAITS; i++) {
		int rc;

		__atomic_store_n(&s->flag, true, __ATOMIC_RELAXED);
		rc = fiber_park(FIBER_FOREVER);
		__atomic_store_n(&s->flag, false, __ATOMIC_RELAXED);
		must(rc == 0 || rc == -ECANCELED);
		s->ended += rc < 0;
		must(fiber_park(FIBER_FOREVER) == 0);
		s->woken++;
		must(!fiber_cancelled());
	}
	fib_store_release(&s->done, true);
	return NULL;
}

static void *unparks_and_interrupts(void *arg)
{
	struct flagged *s = arg;
	struct fiber *f;

	must(fiber_spawn(waits_in_turn, s, &f) == 0);
	fib_store_release(&s->waiter, f);
	while (!fib_load_acquire(&s->done)) {
		fiber_own_tls_interrupt(f, &s->flag);
		fiber_yield();
		fiber_unpark(f);
		fiber_yield();
	}
	must(fiber_join(f, NULL, FIBER_FOREVER) == 0);
	return NULL;
}

static void *interrupts(void *arg)
{
	struct flagged *s = arg;
	struct fiber *f;

	while (!fib_load_acquire(&s->done)) {
		f = fib_load_acquire(&s->waiter);
		if (f)
			fiber_own_tls_interrupt(f, &s->flag);
		sched_yield();
	}
	return NULL;
}

/* After the end of the waiter its record stays mapped, and the flag is clear. */
static void test_interrupt_ends_only_a_wait_with_the_flag_set(void **state)
{
	(void)state;
	for (unsigned carriers = 1; carriers <= 2; carriers++) {
		pthread_t thread;

		flagged = (struct flagged){.flag = false};
		assert_int_equal(pthread_create(&thread, NULL, interrupts, &flagged), 0);
		carriers_run(carriers, unparks_and_interrupts, &flagged);
		pthread_join(thread, NULL);
		assert_int_equal(flagged.woken, WAITS);
		/* On two carriers the unparker may always be first. */
		assert_true(carriers > 1 || flagged.ended > 0);
	}
}

static void *is_interrupted(void *arg)
{
	must(fiber_park(FIBER_FOREVER) == -ECANCELED);
	must(!fiber_cancelled());
	must(fiber_park(0) == -ETIMEDOUT);
	return arg;
}

static void *interrupts_one(void *arg)
{
	bool flag = false;
	struct fiber *f;

	must(fiber_spawn(is_interrupted, NULL, &f) == 0);
	await_wait(f);
	fiber_own_tls_interrupt(f, &flag);
	must(fiber_state(f) == FIBER_SUSPENDED);
	if (arg)
		flag = true;
	fiber_own_tls_interrupt(f, arg ? &flag : NULL);
	must(fiber_join(f, NULL, FIBER_FOREVER) == 0);
	return NULL;
}

static void test_interrupt_ends_the_wait_and_does_not_cancel(void **state)
{
	(void)state;
	carriers_run(1, interrupts_one, NULL);
	carriers_run(1, interrupts_one, &flagged);
}

/* -- misuse -- */

static void *cancels_twice(void *arg)
{
	struct fiber *f = NULL;

	if (fiber_spawn(cancelled_early, &(bool){false}, &f) == 0 &&
	    fiber_join(f, NULL, FIBER_FOREVER) == 0)
		fiber_cancel(f);
	return arg;
}

static void commit_stale(void)
{
	carriers_run(1, cancels_twice, NULL);
}

static const struct misuse misuses[] = {{"stale", commit_stale}};

static void test_cancel_of_a_handle_given_back_is_misuse(void **state)
{
	(void)state;
	assert_misuse("stale", "*fiber_cancel: fiber \"\" has ended and was joined*");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cancel_ends_each_kind_of_wait_and_all_that_follow),
		cmocka_unit_test(test_cancel_before_it_runs_lets_it_run_and_never_wait),
		cmocka_unit_test(test_cancel_of_a_fiber_in_a_new_record_finds_no_wait),
		cmocka_unit_test(test_cancel_changes_neither_a_failure_nor_what_has_ended),
		cmocka_unit_test(test_cancel_does_not_take_a_token),
		cmocka_unit_test(test_cancel_leaves_the_grant_to_the_next_and_a_firm_wait_alone),
		cmocka_unit_test(test_cancel_wakes_a_pinned_fiber_that_blocks_its_carrier),
		cmocka_unit_test(test_cancel_of_a_thread_is_not_asked),
		cmocka_unit_test(test_cancel_against_arming_and_unpark_always_ends_the_loop),
		cmocka_unit_test(test_interrupt_ends_only_a_wait_with_the_flag_set),
		cmocka_unit_test(test_interrupt_ends_the_wait_and_does_not_cancel),
		cmocka_unit_test(test_cancel_of_a_handle_given_back_is_misuse),
	};

	if (argc > 1)
		return misuse_main(misuses, sizeof misuses / sizeof misuses[0], argv[1]);
	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
