/* SPDX-License-Identifier: MIT */
/* test_timer.c - expirations count from the first deadline, and each is given to one waiter */
#include "queue.h"

#include "tests/unit/sched/misuse.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FOREVER_AGO INT64_C(1)

/* The thread whose looks at the clock are counted. */
static _Atomic pthread_t watched_thread;
static _Atomic unsigned clock_reads;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (pthread_equal(watched_thread, pthread_self()))
		clock_reads++;
	return (int)syscall(SYS_clock_gettime, clock, ret);
}

static struct fiber_timer *timer_new(void)
{
	struct fiber_timer *t = NULL;

	assert_int_equal(fiber_timer_new(&t), 0);
	return t;
}

static void test_timer_that_is_not_armed_does_not_expire(void **state)
{
	struct fiber_timer *t = timer_new();
	uint64_t n = 7;

	(void)state;
	assert_int_equal(fiber_timer_wait(t, &n, 0), -ETIMEDOUT);
	assert_int_equal(fiber_timer_wait(t, &n, fiber_after(MS)), -ETIMEDOUT);
	assert_int_equal(fiber_timer_arm(t, fiber_now(), -1), -EINVAL);
	assert_int_equal(fiber_timer_wait(t, &n, 0), -ETIMEDOUT);
	assert_int_equal(n, 7);
	fiber_timer_free(t);
	fiber_timer_free(NULL);
}

static void test_timer_one_shot_expires_once_however_late_one_looks(void **state)
{
	struct fiber_timer *t = timer_new();
	uint64_t n = 0;

	(void)state;
	assert_int_equal(fiber_timer_arm(t, INT64_MIN, 0), 0);
	assert_int_equal(fiber_timer_wait(t, &n, 0), 0);
	assert_int_equal(n, 1);
	assert_int_equal(fiber_timer_wait(t, &n, 0), -ETIMEDOUT);
	assert_int_equal(fiber_timer_arm(t, FOREVER_AGO, 0), 0);
	assert_int_equal(fiber_timer_wait(t, NULL, 0), 0);
	assert_int_equal(fiber_timer_wait(t, &n, fiber_after(MS)), -ETIMEDOUT);
	fiber_timer_free(t);
}

static void test_timer_waits_until_the_first_deadline(void **state)
{
	struct fiber_timer *t = timer_new();
	int64_t first = fiber_after(3 * MS);
	uint64_t n = 0;

	(void)state;
	fiber_timer_arm(t, first, 0);
	assert_int_equal(fiber_timer_wait(t, &n, 0), -ETIMEDOUT);
	assert_int_equal(fiber_timer_wait(t, &n, FIBER_FOREVER), 0);
	assert_true(fiber_now() >= first);
	assert_int_equal(n, 1);
	fiber_timer_free(t);
}

static void test_timer_counts_what_came_while_nobody_waited(void **state)
{
	const int64_t hour = 3600 * 1000 * MS, first = fiber_now() - 10 * hour - hour / 2;
	struct fiber_timer *t = timer_new();
	uint64_t n = 0;

	(void)state;
	fiber_timer_arm(t, first, hour);
	assert_int_equal(fiber_timer_wait(t, &n, FIBER_FOREVER), 0);
	assert_int_equal(n, 11);
	assert_int_equal(fiber_timer_wait(t, &n, 0), -ETIMEDOUT);
	/* The extreme values: an expiration every ns since the start of time. */
	fiber_timer_arm(t, INT64_MIN, 1);
	assert_int_equal(fiber_timer_wait(t, &n, 0), 0);
	assert_true(n > (uint64_t)INT64_MAX);
	/* The next expiration is past the end of time. */
	fiber_timer_arm(t, FOREVER_AGO, INT64_MAX);
	assert_int_equal(fiber_timer_wait(t, &n, 0), 0);
	assert_int_equal(n, 1);
	assert_int_equal(fiber_timer_wait(t, &n, fiber_after(MS)), -ETIMEDOUT);
	fiber_timer_free(t);
}

/* The clock is the dearest part: 20 ns. */
static void test_timer_is_armed_without_a_look_at_the_clock_while_nobody_waits(void **state)
{
	struct fiber_timer *t = timer_new();
	int64_t later = fiber_after(3600 * 1000 * MS);
	uint64_t n = 0;

	(void)state;
	watched_thread = pthread_self();
	clock_reads = 0;
	fiber_now();
	assert_int_equal(clock_reads, 1);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(fiber_timer_arm(t, i % 2 ? later : FOREVER_AGO, i % 3), 0);
		assert_int_equal(fiber_timer_arm(t, FIBER_FOREVER, 0), 0);
	}
	assert_int_equal(clock_reads, 1);
	watched_thread = 0;
	assert_int_equal(fiber_timer_wait(t, &n, 0), -ETIMEDOUT);
	fiber_timer_arm(t, FOREVER_AGO, 1);
	fiber_timer_arm(t, FOREVER_AGO, 0);
	assert_int_equal(fiber_timer_wait(t, &n, 0), 0);
	assert_int_equal(n, 1);
	fiber_timer_free(t);
}

struct ticking {
	struct fiber_timer *timer;
	int64_t first, period;
	uint64_t sum;
	int early, rc;
	unsigned turns;
};

static void *tick(void *arg)
{
	struct ticking *k = arg;

	for (unsigned i = 0; i < k->turns && k->rc == 0; i++) {
		uint64_t n = 0;

		k->rc = fiber_timer_wait(k->timer, &n, FIBER_FOREVER);
		k->sum += n;
		/* The n-th expiration is never before first + (n - 1) periods, however late
		 * earlier ones were. */
		k->early += fiber_now() < k->first + (int64_t)(k->sum - 1) * k->period;
		if (i % 3 == 0)
			fiber_sleep(k->period * 2);
	}
	/* Expirations are not late either: all that are due by now have been counted. */
	return (void *)(intptr_t)((int64_t)(k->sum + 1) < (fiber_now() - k->first) / k->period);
}

static void test_timer_periodic_does_not_drift(void **state)
{
	struct ticking k = {timer_new(), fiber_after(MS), MS / 2, 0, 0, 0, 30};
	int drifted = 0;

	(void)state;
	fiber_timer_arm(k.timer, k.first, k.period);
	/* The machine may make the last look late once; if it is late every time, that is a bug. */
	for (int i = 0; i < 20 && (i == 0 || drifted); i++)
		drifted = queue_join(queue_spawn(tick, &k));
	assert_int_equal(k.rc, 0);
	assert_int_equal(k.early, 0);
	assert_int_equal(drifted, 0);
	fiber_timer_free(k.timer);
}

static void *wait_for_one(void *arg)
{
	uint64_t n = 0;
	int rc = fiber_timer_wait(arg, &n, FIBER_FOREVER);

	return (void *)(intptr_t)(rc < 0 ? rc : (int)n);
}

/* Wait until f is queued; it shows what it waits for a little earlier. */
static void await_timer_wait(struct fiber *f)
{
	while (fiber_state(f) != FIBER_SUSPENDED || fib_load(&f->wait_kind) != FIB_WAIT_TIMER ||
	       (fib_load_acquire(&f->seq) & 1))
		sched_yield();
}

static void test_timer_armed_anew_wakes_waiters_for_the_new_deadline(void **state)
{
	struct fiber_timer *t = timer_new();
	int64_t soon;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct fiber *f;

		fiber_timer_arm(t, i % 2 ? FIBER_FOREVER : fiber_after(3600 * 1000 * MS), 0);
		f = queue_spawn(wait_for_one, t);
		if (i % 3)
			await_timer_wait(f);
		soon = fiber_after(i % 5 * 50000);
		fiber_timer_arm(t, soon, 0);
		assert_int_equal(queue_join(f), 1);
		assert_true(fiber_now() >= soon);
	}
	fiber_timer_free(t);
}

static void *arm_soon(void *arg)
{
	fiber_timer_arm(arg, fiber_after(2 * MS), 0);
	return NULL;
}

static void test_timer_armed_to_something_later_does_not_expire_before(void **state)
{
	struct fiber_timer *t = timer_new();
	int64_t later;
	struct fiber *f;

	(void)state;
	fiber_timer_arm(t, fiber_after(60 * 1000 * MS), 0);
	f = queue_spawn(wait_for_one, t);
	await_timer_wait(f);
	later = fiber_after(5 * MS);
	fiber_timer_arm(t, later, 0);
	assert_int_equal(queue_join(f), 1);
	assert_true(fiber_now() >= later);
	fiber_timer_free(t);
}

static void *thread_waits(void *arg)
{
	return wait_for_one(arg);
}

static void test_timer_is_given_to_every_fiber_and_thread_that_waits(void **state)
{
	struct fiber_timer *t = timer_new();
	struct fiber *fibers[6];
	pthread_t threads[3];

	(void)state;
	for (int i = 0; i < 6; i++)
		fibers[i] = queue_spawn(wait_for_one, t);
	for (int i = 0; i < 6; i++)
		await_timer_wait(fibers[i]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_waits, t), 0);
	queue_join(queue_spawn(arm_soon, t));
	for (int i = 0; i < 6; i++)
		assert_int_equal(queue_join(fibers[i]), 1);
	/* A thread that came after an expiration was given to another waiter waits for the next
	 * one. */
	fiber_timer_arm(t, FOREVER_AGO, MS);
	for (int i = 0; i < 3; i++) {
		void *n;

		pthread_join(threads[i], &n);
		assert_true((intptr_t)n >= 1);
	}
	fiber_timer_free(t);
}

/* One carrier: the waiter does not run before the timer has been changed several times. */
static void *arms_often_before_the_waiter_runs(void *arg)
{
	struct fiber_timer *t = arg;
	struct fiber_result r = {NULL, 1};
	struct fiber *f;
	intptr_t given = 0;

	for (int i = 0; i < 3; i++) {
		fiber_timer_arm(t, i ? fiber_after(3600 * 1000 * MS) : FIBER_FOREVER, 0);
		fiber_spawn(wait_for_one, t, &f);
		fiber_yield();
		for (int k = 0; k <= i; k++)
			fiber_timer_arm(t, FOREVER_AGO, 0);
		fiber_timer_arm(t, FIBER_FOREVER, 0);
		/* The expirations belong to that waiter, not to a later one. */
		given += fiber_timer_wait(t, NULL, 0) == -ETIMEDOUT ? 0 : 100;
		fiber_join(f, &r, FIBER_FOREVER);
		given = given * 10 + (intptr_t)r.value;
	}
	return (void *)given;
}

static void test_timer_armed_again_before_a_waiter_runs_loses_no_expiration(void **state)
{
	const struct fiber_runtime_options o = {
		.size = sizeof o, .carriers = 1, .control_path = ""};
	struct fiber_timer *t = timer_new();
	struct fiber_result r = {NULL, 1};

	(void)state;
	assert_int_equal(fiber_run(arms_often_before_the_waiter_runs, t, &o, &r), 0);
	assert_int_equal((intptr_t)r.value, 123);
	fiber_timer_free(t);
}

struct chaos {
	struct fiber_timer *timer;
	_Atomic int over;
	_Atomic unsigned given;
};

static void *wait_again_and_again(void *arg)
{
	struct chaos *c = arg;
	uint64_t n;

	while (!fib_load(&c->over))
		if (fiber_timer_wait(c->timer, &n, fiber_after(MS / 5)) == 0)
			fib_add(&c->given, n > 0);
	return NULL;
}

static void *rearm(void *arg)
{
	struct chaos *c = arg;

	for (int i = 0; i < 2000; i++) {
		fiber_timer_arm(c->timer, fiber_after(i % 7 * 10000), i % 2 ? 20000 : 0);
		if (i % 16 == 0)
			fiber_sleep(30000);
		else
			fiber_yield();
	}
	return NULL;
}

static void test_timer_armed_by_some_while_others_wait_stays_whole(void **state)
{
	struct chaos c = {timer_new(), 0, 0};
	struct fiber *waiters[5], *armers[2];
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_again_and_again, &c), 0);
	for (int i = 0; i < 5; i++)
		waiters[i] = queue_spawn(wait_again_and_again, &c);
	for (int i = 0; i < 2; i++)
		armers[i] = queue_spawn(rearm, &c);
	for (int i = 0; i < 2; i++)
		queue_join(armers[i]);
	fib_store(&c.over, 1);
	for (int i = 0; i < 5; i++)
		queue_join(waiters[i]);
	pthread_join(thread, NULL);
	assert_true(fib_load(&c.given) > 0);
	fiber_timer_free(c.timer);
}

static void *wait_pinned(void *arg)
{
	int rc;

	fiber_pin();
	rc = fiber_timer_wait(arg, NULL, FIBER_FOREVER);
	fiber_unpin();
	return (void *)(intptr_t)rc;
}

static void test_timer_wait_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct fiber_timer *t = timer_new();

	(void)state;
	/* The deadline is distant: the timer does not expire before the wait. */
	fiber_timer_arm(t, fiber_after(3600 * 1000 * MS), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(wait_pinned, t)), -EDEADLK);
	fiber_timer_arm(t, fiber_after(2 * MS), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	assert_int_equal(queue_join(queue_spawn(wait_pinned, t)), 0);
	fiber_timer_free(t);
}

/* -- misuse: in a process of its own -- */

static void free_while_waited_for(void)
{
	const struct fiber_runtime_options o = {
		.size = sizeof o, .carriers = 1, .control_path = ""};
	struct fiber_timer *t;
	struct fiber *f;

	if (fiber_runtime_start(&o, &rt) < 0 || fiber_timer_new(&t) < 0)
		return;
	fiber_object_name(t, "flush timer");
	if (fiber_runtime_spawn(rt, NULL, wait_for_one, t, &f) < 0)
		return;
	await_timer_wait(f);
	fiber_timer_free(t);
}

static const struct misuse misuses[] = {{"free-while-waited-for", free_while_waited_for}};

static void test_timer_freed_while_somebody_waits_aborts(void **state)
{
	(void)state;
	assert_misuse(
		"free-while-waited-for",
		"libfiber: fiber_timer_free: thread [0-9]* frees timer \"flush timer\", which 1 "
		"still wait for");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timer_that_is_not_armed_does_not_expire),
		cmocka_unit_test(test_timer_one_shot_expires_once_however_late_one_looks),
		cmocka_unit_test(test_timer_waits_until_the_first_deadline),
		cmocka_unit_test(test_timer_counts_what_came_while_nobody_waited),
		cmocka_unit_test(
			test_timer_is_armed_without_a_look_at_the_clock_while_nobody_waits),
		cmocka_unit_test(test_timer_periodic_does_not_drift),
		cmocka_unit_test(test_timer_armed_anew_wakes_waiters_for_the_new_deadline),
		cmocka_unit_test(test_timer_armed_to_something_later_does_not_expire_before),
		cmocka_unit_test(test_timer_is_given_to_every_fiber_and_thread_that_waits),
		cmocka_unit_test(test_timer_armed_again_before_a_waiter_runs_loses_no_expiration),
		cmocka_unit_test(test_timer_armed_by_some_while_others_wait_stays_whole),
		cmocka_unit_test(test_timer_wait_of_a_pinned_fiber_follows_the_policy),
		cmocka_unit_test(test_timer_freed_while_somebody_waits_aborts),
	};

	if (argc > 1)
		return misuse_main(misuses, sizeof misuses / sizeof *misuses, argv[1]);
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
