/* SPDX-License-Identifier: MIT */
/* test_barrier.c - pthread_barrier_t and pthread_spin_lock() between fibers and plain threads */
#include "mixed.h"

#define ROUNDS 300

static pthread_barrier_t barrier;
static _Atomic int arrived[ROUNDS], serial[ROUNDS], early;

static void *arrive(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		int rc;

		arrived[i]++;
		rc = pthread_barrier_wait(&barrier);
		serial[i] += rc == PTHREAD_BARRIER_SERIAL_THREAD;
		early += arrived[i] != FIBERS + THREADS;
	}
	return arg;
}

static void test_barrier_lets_all_pass_together(void **state)
{
	(void)state;
	assert_int_equal(pthread_barrier_init(&barrier, NULL, FIBERS + THREADS), 0);
	mixed_run(arrive, NULL);
	for (int i = 0; i < ROUNDS; i++)
		assert_int_equal(serial[i], 1);
	assert_int_equal(early, 0);
	assert_int_equal(pthread_barrier_destroy(&barrier), 0);
}

/* A caller that has passed may destroy it and use the memory. */
static void *meet(void *arg)
{
	pthread_barrier_t *const b = arg;
	const int rc = pthread_barrier_wait(b);

	if (rc == PTHREAD_BARRIER_SERIAL_THREAD) {
		pthread_barrier_destroy(b);
		memset(b, 0xff, sizeof(*b));
		free(b);
	}
	return NULL;
}

static void test_barrier_may_be_freed_by_one_that_has_passed(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		pthread_barrier_t *b = malloc(sizeof(*b));

		assert_int_equal(pthread_barrier_init(b, NULL, FIBERS + THREADS), 0);
		mixed_run(meet, b);
	}
}

static void test_barrier_for_a_count_of_0_is_refused(void **state)
{
	(void)state;
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 0), EINVAL);
}

static void test_barrier_of_processes_is_the_c_librarys(void **state)
{
	pthread_barrierattr_t attr;

	(void)state;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	memset(&barrier, 0, sizeof(barrier));
	assert_int_equal(pthread_barrier_init(&barrier, &attr, 1), 0);
	assert_int_equal(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	assert_int_equal(pthread_barrier_destroy(&barrier), 0);
	pthread_barrierattr_destroy(&attr);
}

/* -- spin locks -- */

static pthread_spinlock_t spin;
static long count;

static void *add(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_spin_lock(&spin);
		count++;
		/* Another fiber of this carrier wants it now. */
		if (i % 100 == 0)
			sched_yield();
		pthread_spin_unlock(&spin);
	}
	return arg;
}

static void test_spin_lock_whose_owner_has_yielded_is_got(void **state)
{
	(void)state;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	mixed_run(add, NULL);
	assert_int_equal(count, ROUNDS * (FIBERS + THREADS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_barrier_lets_all_pass_together),
		cmocka_unit_test(test_barrier_may_be_freed_by_one_that_has_passed),
		cmocka_unit_test(test_barrier_for_a_count_of_0_is_refused),
		cmocka_unit_test(test_barrier_of_processes_is_the_c_librarys),
		cmocka_unit_test(test_spin_lock_whose_owner_has_yielded_is_got),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
