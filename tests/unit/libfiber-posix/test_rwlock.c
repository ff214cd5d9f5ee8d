/* SPDX-License-Identifier: MIT */
/* test_rwlock.c - pthread_rwlock_t between fibers and plain threads */
#include "mixed.h"

#include "outcome.h"

#define ROUNDS 2000

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static _Atomic int readers, writers, offences;
static long written;

static void *read_and_write(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 8) {
			pthread_rwlock_rdlock(&lock);
			readers++;
			offences += writers != 0;
			if (i % 101 == 0)
				usleep(10);
			readers--;
		} else {
			pthread_rwlock_wrlock(&lock);
			writers++;
			offences += writers != 1 || readers != 0;
			written++;
			if (i % 104 == 0)
				usleep(10);
			writers--;
		}
		pthread_rwlock_unlock(&lock);
	}
	return arg;
}

static void test_rwlock_has_readers_or_one_writer(void **state)
{
	(void)state;
	mixed_run(read_and_write, NULL);
	assert_int_equal(offences, 0);
	assert_int_equal(written, (FIBERS + THREADS) * ROUNDS / 8);
}

static void *write_once(void *arg)
{
	pthread_rwlock_wrlock(&lock);
	pthread_rwlock_unlock(&lock);
	return arg;
}

static void test_rwlock_that_a_thread_has_suspends_the_fiber(void **state)
{
	struct fiber *fiber;

	(void)state;
	pthread_rwlock_rdlock(&lock);
	fiber = inside_suspended(write_once, NULL);
	pthread_rwlock_unlock(&lock);
	inside_join(fiber);
}

/* A writer may come back on another thread: its unlock is that of a writer all the same. */
static void *write_and_move(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_rwlock_wrlock(&lock);
		fiber_sleep(10000);
		pthread_rwlock_unlock(&lock);
	}
	return arg;
}

static void test_rwlock_of_a_writer_that_moves_is_unlocked(void **state)
{
	const struct fiber_attr attr = {.size = sizeof(attr), .flags = FIBER_MIGRATES};
	struct fiber *fibers[6];

	(void)state;
	for (int i = 0; i < 6; i++)
		assert_int_equal(fiber_runtime_spawn(rt, &attr, write_and_move, NULL, &fibers[i]),
				 0);
	for (int i = 0; i < 6; i++)
		inside_join(fibers[i]);
	assert_int_equal(pthread_rwlock_trywrlock(&lock), 0);
	assert_int_equal(pthread_rwlock_unlock(&lock), 0);
}

static struct timespec limit;

static void *lock_until(void *arg)
{
	const struct call *c = arg;

	if (c->flags < 0)
		return (void *)(intptr_t)(c->fd ? pthread_rwlock_timedwrlock(&lock, &limit)
						: pthread_rwlock_timedrdlock(&lock, &limit));
	return (void *)(intptr_t)(c->fd ? pthread_rwlock_clockwrlock(&lock, c->flags, &limit)
					: pthread_rwlock_clockrdlock(&lock, c->flags, &limit));
}

static void *hold(void *arg)
{
	struct call *c = arg;

	pthread_rwlock_wrlock(&lock);
	while (!__atomic_load_n(&c->error, __ATOMIC_RELAXED))
		usleep(1000);
	pthread_rwlock_unlock(&lock);
	return NULL;
}

static void test_rwlock_waits_end_when_the_time_is_over(void **state)
{
	struct call done = {0}, c = {0};
	pthread_t holder;

	(void)state;
	assert_int_equal(pthread_create(&holder, NULL, hold, &done), 0);
	while (pthread_rwlock_tryrdlock(&lock) == 0) {
		pthread_rwlock_unlock(&lock);
		usleep(1000);
	}
	for (c.fd = 0; c.fd < 2; c.fd++) {
		c.flags = -1;
		limit = mixed_in(CLOCK_REALTIME, 20);
		both_give(lock_until, &c, ETIMEDOUT, 0);
		c.flags = CLOCK_MONOTONIC;
		limit = mixed_in(CLOCK_MONOTONIC, 20);
		both_give(lock_until, &c, ETIMEDOUT, 0);
		limit.tv_nsec = 1000000000;
		both_give(lock_until, &c, EINVAL, 0);
	}
	__atomic_store_n(&done.error, 1, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(holder, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rwlock_has_readers_or_one_writer),
		cmocka_unit_test(test_rwlock_that_a_thread_has_suspends_the_fiber),
		cmocka_unit_test(test_rwlock_of_a_writer_that_moves_is_unlocked),
		cmocka_unit_test(test_rwlock_waits_end_when_the_time_is_over),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
