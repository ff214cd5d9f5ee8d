/* SPDX-License-Identifier: MIT */
/* test_race_cancel.c - cancellation and grant at the same moment: one wins, and no grant is lost */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#define CROWD 24

struct race {
	struct fiber_mutex mutex;
	struct fiber_cond cond;
	struct fiber_sem sem;
	_Atomic unsigned granted, cancelled;
	struct fiber *fibers[CROWD];
};

static void *wait_sem(void *arg)
{
	struct race *r = arg;
	int rc = fiber_sem_wait(&r->sem, FIBER_FOREVER);

	atomic_fetch_add(rc == 0 ? &r->granted : &r->cancelled, 1);
	return NULL;
}

static void *wait_cond(void *arg)
{
	struct race *r = arg;
	int rc;

	while (fiber_mutex_trylock(&r->mutex) < 0)
		fiber_yield();
	rc = fiber_cond_wait(&r->cond, &r->mutex, FIBER_FOREVER);
	fiber_mutex_unlock(&r->mutex);
	atomic_fetch_add(rc == 0 ? &r->granted : &r->cancelled, 1);
	return NULL;
}

static void *cancel_every_other(void *arg)
{
	struct race *r = arg;

	for (int i = 0; i < CROWD; i += 2)
		fiber_cancel(r->fibers[i]);
	return NULL;
}

static void gather(struct fiber_runtime *rt, struct race *r, fiber_fn *fn)
{
	memset(r, 0, sizeof *r);
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, fn, r, &r->fibers[i]), 0);
	for (int i = 0; i < CROWD; i++)
		carriers_await_suspended(r->fibers[i]);
}

static void scatter(struct race *r)
{
	for (int i = 0; i < CROWD; i++)
		fiber_cancel(r->fibers[i]);
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(fiber_join(r->fibers[i], NULL, FIBER_FOREVER), 0);
	assert_int_equal(r->granted + r->cancelled, CROWD);
}

/* Every grant finds a waiter: half of the waiters are never cancelled. */
static void grants_while_others_cancel(fiber_fn *fn, void (*grant)(struct race *))
{
	struct fiber_runtime *rt = carriers_start();
	struct race r;

	for (int round = 0; round < 60; round++) {
		pthread_t thread;

		gather(rt, &r, fn);
		assert_int_equal(pthread_create(&thread, NULL, cancel_every_other, &r), 0);
		for (int i = 0; i < CROWD / 2; i++)
			grant(&r);
		pthread_join(thread, NULL);
		while (r.granted + r.cancelled < CROWD / 2)
			sched_yield();
		scatter(&r);
		assert_int_equal(r.granted, CROWD / 2);
		assert_int_equal(fiber_sem_wait(&r.sem, 0), -ETIMEDOUT);
		assert_int_equal(fiber_mutex_trylock(&r.mutex), 0);
		fiber_mutex_unlock(&r.mutex);
	}
	carriers_finish(rt);
}

static void post(struct race *r)
{
	fiber_sem_post(&r->sem);
}

static void signal_one(struct race *r)
{
	fiber_cond_signal(&r->cond);
}

static void test_race_cancel_against_posts_loses_no_unit(void **state)
{
	(void)state;
	grants_while_others_cancel(wait_sem, post);
}

static void test_race_cancel_against_signals_loses_none(void **state)
{
	(void)state;
	grants_while_others_cancel(wait_cond, signal_one);
}

struct hand {
	struct fiber_mutex mutex;
	int inside, crowded; /* under mutex */
	_Atomic unsigned locked, refused;
};

static void *lock_and_hold(void *arg)
{
	struct hand *h = arg;

	while (fiber_mutex_lock(&h->mutex, FIBER_FOREVER) == 0) {
		h->crowded += h->inside++ != 0;
		fiber_yield();
		h->inside--;
		atomic_fetch_add(&h->locked, 1);
		fiber_mutex_unlock(&h->mutex);
		if (fiber_cancelled())
			return NULL;
	}
	atomic_fetch_add(&h->refused, 1);
	return NULL;
}

static void test_race_cancel_against_the_hand_over_leaves_the_mutex_with_one_or_free(void **state)
{
	struct fiber_runtime *rt = carriers_start();

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct hand h = {0};
		struct fiber *fibers[12];

		for (int i = 0; i < 12; i++)
			assert_int_equal(
				fiber_runtime_spawn(rt, NULL, lock_and_hold, &h, &fibers[i]), 0);
		for (int i = 0; i < 12; i++) {
			unsigned seen = h.locked;

			while (h.locked == seen)
				sched_yield();
			fiber_cancel(fibers[i]);
		}
		for (int i = 0; i < 12; i++)
			assert_int_equal(fiber_join(fibers[i], NULL, FIBER_FOREVER), 0);
		assert_int_equal(h.crowded, 0);
		assert_int_equal(fiber_mutex_trylock(&h.mutex), 0);
		fiber_mutex_unlock(&h.mutex);
	}
	carriers_finish(rt);
}

static void *lock_to_read(void *arg)
{
	int rc = fiber_rwlock_rdlock(arg, FIBER_FOREVER);

	if (rc == 0)
		fiber_rwlock_unlock(arg);
	return (void *)(intptr_t)rc;
}

static void *lock_to_write(void *arg)
{
	int rc = fiber_rwlock_wrlock(arg, FIBER_FOREVER);

	if (rc == 0)
		fiber_rwlock_unlock(arg);
	return (void *)(intptr_t)rc;
}

static void test_race_cancel_of_a_waiting_writer_lets_the_readers_behind_it_in(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber_rwlock lock = {0};
	struct fiber_result r = {NULL, 1};
	struct fiber *writer, *reader;

	(void)state;
	assert_int_equal(fiber_rwlock_rdlock(&lock, 0), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, lock_to_write, &lock, &writer), 0);
	carriers_await_suspended(writer);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, lock_to_read, &lock, &reader), 0);
	carriers_await_suspended(reader);
	fiber_cancel(writer);
	assert_int_equal(fiber_join(writer, &r, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)r.value, -ECANCELED);
	assert_int_equal(fiber_join(reader, &r, fiber_after(20000 * MS)), 0);
	assert_int_equal((intptr_t)r.value, 0);
	fiber_rwlock_unlock(&lock);
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_race_cancel_against_posts_loses_no_unit),
		cmocka_unit_test(test_race_cancel_against_signals_loses_none),
		cmocka_unit_test(
			test_race_cancel_against_the_hand_over_leaves_the_mutex_with_one_or_free),
		cmocka_unit_test(
			test_race_cancel_of_a_waiting_writer_lets_the_readers_behind_it_in),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
