/* SPDX-License-Identifier: MIT */
/* test_calls.c - a cancelled fiber, and one that is interrupted, wait for locks and conditions as ever */
#include "mixed.h"

#include <threads.h>

#include "layout/own_tls.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once;
static pthread_barrier_t barrier;
static _Atomic bool told, enters;
static _Atomic int calls;

/* A fiber waits in it. wait() returns 0 if the fiber has what it wanted. */
struct wait {
	void (*take)(void); /* by the test: what the fiber wants. NULL: nothing */
	int (*wait)(void);
	void (*release)(void); /* by the test */
	int (*give)(void);     /* by the fiber; NULL: nothing */
};

static struct timespec far(clockid_t clock)
{
	return mixed_in(clock, 1000 * 1000);
}

/* -- the waits -- */

static void take_mutex(void)
{
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
}

static void release_mutex(void)
{
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
}

static int give_mutex(void)
{
	return pthread_mutex_unlock(&mutex);
}

static int lock(void)
{
	return pthread_mutex_lock(&mutex);
}

static int lock_timed(void)
{
	const struct timespec at = far(CLOCK_REALTIME);

	return pthread_mutex_timedlock(&mutex, &at);
}

static int lock_clock(void)
{
	const struct timespec at = far(CLOCK_MONOTONIC);

	return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &at);
}

static int lock_c11(void)
{
	return mtx_lock((mtx_t *)&mutex);
}

static int wait_for_cond(void)
{
	int rc = pthread_mutex_lock(&mutex);

	while (!told)
		rc |= pthread_cond_wait(&cond, &mutex);
	return rc;
}

static int wait_for_cond_timed(void)
{
	const struct timespec at = far(CLOCK_REALTIME);
	int rc = pthread_mutex_lock(&mutex);

	while (!told)
		rc |= pthread_cond_timedwait(&cond, &mutex, &at);
	return rc;
}

static int wait_for_cond_c11(void)
{
	int rc = pthread_mutex_lock(&mutex);

	while (!told)
		rc |= cnd_wait((cnd_t *)&cond, (mtx_t *)&mutex);
	return rc;
}

static void tell(void)
{
	take_mutex();
	told = true;
	assert_int_equal(pthread_cond_signal(&cond), 0);
	release_mutex();
}

static void take_rwlock(void)
{
	assert_int_equal(pthread_rwlock_wrlock(&rwlock), 0);
}

static void release_rwlock(void)
{
	assert_int_equal(pthread_rwlock_unlock(&rwlock), 0);
}

static int give_rwlock(void)
{
	return pthread_rwlock_unlock(&rwlock);
}

static int lock_to_read(void)
{
	return pthread_rwlock_rdlock(&rwlock);
}

static int lock_to_write(void)
{
	const struct timespec at = far(CLOCK_REALTIME);

	return pthread_rwlock_timedwrlock(&rwlock, &at);
}

static int meet(void)
{
	const int rc = pthread_barrier_wait(&barrier);

	return rc == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : rc;
}

static void meet_fiber(void)
{
	meet();
}

static void call(void)
{
	while (!told)
		usleep(1000);
	calls++;
}

static void *call_in_fiber(void *arg)
{
	pthread_once(&once, call);
	return arg;
}

static struct fiber *caller;

static void begin_call(void)
{
	once = PTHREAD_ONCE_INIT;
	caller = inside_suspended(call_in_fiber, NULL);
}

static int wait_for_call(void)
{
	return pthread_once(&once, call);
}

static void end_call(void)
{
	told = true;
	inside_join(caller);
}

static const struct wait waits[] = {
	{take_mutex, lock, release_mutex, give_mutex},
	{take_mutex, lock_timed, release_mutex, give_mutex},
	{take_mutex, lock_clock, release_mutex, give_mutex},
	{take_mutex, lock_c11, release_mutex, give_mutex},
	{NULL, wait_for_cond, tell, give_mutex},
	{NULL, wait_for_cond_timed, tell, give_mutex},
	{NULL, wait_for_cond_c11, tell, give_mutex},
	{take_rwlock, lock_to_read, release_rwlock, give_rwlock},
	{take_rwlock, lock_to_write, release_rwlock, give_rwlock},
	{NULL, meet, meet_fiber, NULL},
	{begin_call, wait_for_call, end_call, NULL},
};

/* -- a fiber waits -- */

static void *wait_and_give(void *arg)
{
	const struct wait *w = arg;
	int rc;

	while (!enters)
		fiber_yield();
	rc = w->wait();
	if (w->give)
		rc |= w->give() << 8;
	return (void *)(intptr_t)rc;
}

static void begin(const struct wait *w, bool may_enter)
{
	enters = may_enter;
	told = false;
	if (w->take)
		w->take();
}

static void test_calls_of_a_cancelled_fiber_wait_on(void **state)
{
	struct fiber *fiber;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof waits / sizeof *waits; i++) {
		begin(&waits[i], true);
		fiber = inside_suspended(wait_and_give, (void *)&waits[i]);
		fiber_own_tls_interrupt(fiber, NULL);
		fiber_cancel(fiber);
		harness_await_suspended(fiber);
		waits[i].release();
		assert_int_equal(inside_join_cancelled(fiber), 0);
	}
}

static void test_calls_of_a_fiber_that_was_cancelled_before_wait(void **state)
{
	struct fiber *fiber;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof waits / sizeof *waits; i++) {
		begin(&waits[i], false);
		fiber = inside_spawn(wait_and_give, (void *)&waits[i]);
		fiber_cancel(fiber);
		enters = true;
		harness_await_suspended(fiber);
		waits[i].release();
		assert_int_equal(inside_join_cancelled(fiber), 0);
	}
}

static void test_calls_of_a_fiber_that_is_interrupted_wait_on(void **state)
{
	struct fiber *fiber;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof waits / sizeof *waits; i++) {
		begin(&waits[i], true);
		fiber = inside_suspended(wait_and_give, (void *)&waits[i]);
		for (int times = 0; times < 3; times++) {
			fiber_own_tls_interrupt(fiber, NULL);
			harness_await_suspended(fiber);
		}
		waits[i].release();
		assert_int_equal(inside_join(fiber), 0);
	}
}

static int make_barrier(void **state)
{
	return inside_start(state) || pthread_barrier_init(&barrier, NULL, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_of_a_cancelled_fiber_wait_on),
		cmocka_unit_test(test_calls_of_a_fiber_that_was_cancelled_before_wait),
		cmocka_unit_test(test_calls_of_a_fiber_that_is_interrupted_wait_on),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, make_barrier, inside_stop);
}
