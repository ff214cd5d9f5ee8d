/* SPDX-License-Identifier: MIT */
/*
 * test_atomic8.c - atomics of 8 bytes made of two words
 *
 * All machines run these tests, also those that have instructions for 8 bytes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/linux/atomic8/atomic8.h"
#include "tests/harness/watchdog.h"

#define SEQ	 __ATOMIC_SEQ_CST
#define HALF	 UINT64_C(0x100000000)
#define BOTH(n)	 ((uint64_t)(n) * (HALF + 1)) /* the same number in both words */
#define THREADS	 2
#define CHANGES	 1000
#define SIGNALS	 100
#define CHILDREN 30
#define CHANGERS 8 /* more than CPUs, so that a fork finds one that was stopped with a lock */

static uint64_t object __attribute__((aligned(8)));
static uint64_t others[64] __attribute__((aligned(8)));
static _Atomic uint32_t started, stop;

static uint64_t now(void)
{
	return fib_os_atomic8_load(&object, SEQ);
}

static void test_atomic8_operations_give_the_value_before(void **state)
{
	(void)state;
	fib_os_atomic8_store(&object, 0x0123456789abcdefu, SEQ);
	assert_true(object == 0x0123456789abcdefu);
	assert_true(now() == 0x0123456789abcdefu);
	assert_true(fib_os_atomic8_swap(&object, HALF - 1, SEQ) == 0x0123456789abcdefu);
	assert_true(fib_os_atomic8_add(&object, 2, SEQ) == HALF - 1);
	assert_true(fib_os_atomic8_sub(&object, 3, SEQ) == HALF + 1);
	assert_true(fib_os_atomic8_or(&object, 7 * HALF, SEQ) == HALF - 2);
	assert_true(fib_os_atomic8_and(&object, 5 * HALF + 0xff, SEQ) == 8 * HALF - 2);
	assert_true(fib_os_atomic8_xor(&object, HALF + 1, SEQ) == 5 * HALF + 0xfe);
	assert_true(now() == 4 * HALF + 0xff);
}

static void test_atomic8_cas_changes_only_the_expected_value(void **state)
{
	uint64_t expected = 7 * HALF;

	(void)state;
	object = 7 * HALF + 1;
	assert_false(fib_os_atomic8_cas(&object, &expected, 1, SEQ, SEQ));
	assert_true(expected == 7 * HALF + 1);
	assert_true(now() == 7 * HALF + 1);
	assert_true(fib_os_atomic8_cas(&object, &expected, 8 * HALF, SEQ, SEQ));
	assert_true(expected == 7 * HALF + 1);
	assert_true(now() == 8 * HALF);
}

static void start(pthread_t *threads, unsigned n, void *(*fn)(void *))
{
	unsigned i;

	started = 0;
	stop = 0;
	for (i = 0; i < n; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fn, NULL), 0);
	while (started < n)
		sched_yield();
}

static void join(const pthread_t *threads, unsigned n)
{
	unsigned i;

	stop = 1;
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* Returns &object if it saw a value whose words differ. */
static void *look(void *arg)
{
	void *torn = arg;

	started++;
	while (!stop) {
		const uint64_t value = fib_os_atomic8_load(&object, __ATOMIC_ACQUIRE);

		if (value != BOTH((uint32_t)value))
			torn = &object;
	}
	return torn;
}

static void test_atomic8_load_gives_no_torn_value(void **state)
{
	pthread_t threads[THREADS];
	void *torn;
	unsigned i;

	(void)state;
	object = 0;
	start(threads, THREADS, look);
	for (i = 1; i <= 4 * CHANGES; i++)
		fib_os_atomic8_store(&object, BOTH(i), __ATOMIC_RELEASE);
	stop = 1;
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &torn);
		assert_null(torn);
	}
}

/* Adds 2 * CHANGES to both words. */
static void *count(void *arg)
{
	unsigned i;

	started++;
	for (i = 0; i < CHANGES; i++) {
		uint64_t expected = fib_os_atomic8_load(&object, __ATOMIC_RELAXED);

		while (!fib_os_atomic8_cas(&object, &expected, expected + BOTH(1), SEQ, SEQ))
			;
		fib_os_atomic8_add(&object, HALF + 2, SEQ);
		fib_os_atomic8_sub(&object, 1, SEQ);
	}
	return arg;
}

static void test_atomic8_changes_of_threads_are_all_kept(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	object = 0;
	start(threads, THREADS, count);
	join(threads, THREADS);
	assert_true(now() == BOTH(2 * THREADS * CHANGES));
}

static _Atomic uint32_t handled;

static void on_signal(int number)
{
	(void)number;
	fib_os_atomic8_add(&object, HALF, SEQ);
	(void)now();
	handled++;
}

/* Returns how often it changed the object. */
static void *change(void *arg)
{
	uintptr_t n = 0;

	(void)arg;
	started++;
	for (; !stop; n++)
		fib_os_atomic8_add(&object, 1, SEQ);
	return (void *)n; /* NOLINT(performance-no-int-to-ptr): a count */
}

/* A thread that could be interrupted while it has the lock would wait for itself. */
static void test_atomic8_handler_uses_the_object_that_its_thread_changes(void **state)
{
	struct sigaction action = {.sa_handler = on_signal}, before;
	pthread_t thread;
	void *changes;
	uint32_t i;

	(void)state;
	object = 0;
	handled = 0;
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	start(&thread, 1, change);
	for (i = 0; i < SIGNALS; i++) {
		assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
		while (handled <= i)
			sched_yield();
	}
	stop = 1;
	pthread_join(thread, &changes);
	sigaction(SIGUSR1, &before, NULL);
	assert_true(now() == SIGNALS * HALF + (uint32_t)(uintptr_t)changes);
}

static void on_signal_store(int number)
{
	(void)number;
	fib_os_atomic8_store(&object, BOTH(handled), SEQ);
	handled++;
}

/* A handler that runs between the two words of a load is a change by another thread. */
static void test_atomic8_load_that_a_handler_interrupts_is_not_torn(void **state)
{
	struct sigaction action = {.sa_handler = on_signal_store}, before;
	pthread_t thread;
	void *torn;
	uint32_t i;

	(void)state;
	object = 0;
	handled = 0;
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	start(&thread, 1, look);
	for (i = 0; i < SIGNALS; i++) {
		assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
		while (handled <= i)
			sched_yield();
	}
	stop = 1;
	pthread_join(thread, &torn);
	sigaction(SIGUSR1, &before, NULL);
	assert_null(torn);
}

static void test_atomic8_change_keeps_the_signal_mask(void **state)
{
	sigset_t set, before, after;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	fib_os_atomic8_add(&object, 1, SEQ);
	pthread_sigmask(SIG_SETMASK, &before, &after);
	assert_int_equal(sigismember(&after, SIGUSR2), 1);
	assert_int_equal(sigismember(&after, SIGUSR1), 0);
}

static void *change_all(void *arg)
{
	unsigned i;

	started++;
	while (!stop)
		for (i = 0; i < 64; i++)
			fib_os_atomic8_add(&others[i], BOTH(1), SEQ);
	return arg;
}

/* Change and load each object. */
static int child(void)
{
	sigset_t mask;
	unsigned i;

	for (i = 0; i < 64; i++) {
		const uint64_t value = fib_os_atomic8_add(&others[i], BOTH(1), SEQ);

		if (value != BOTH((uint32_t)value) ||
		    fib_os_atomic8_load(&others[i], SEQ) != value + BOTH(1))
			return 1;
	}
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	return sigismember(&mask, SIGUSR2) != 0;
}

static void test_atomic8_child_of_a_fork_beside_changes_goes_on(void **state)
{
	pthread_t threads[CHANGERS];
	unsigned i;
	int status;

	(void)state;
	start(threads, CHANGERS, change_all);
	for (i = 0; i < CHILDREN; i++) {
		const pid_t pid = fork();

		if (pid == 0) {
			/* A child that waits for a lock ends by this signal. */
			alarm(60);
			_exit(child());
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	join(threads, CHANGERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_atomic8_operations_give_the_value_before),
		cmocka_unit_test(test_atomic8_cas_changes_only_the_expected_value),
		cmocka_unit_test(test_atomic8_load_gives_no_torn_value),
		cmocka_unit_test(test_atomic8_changes_of_threads_are_all_kept),
		cmocka_unit_test(test_atomic8_handler_uses_the_object_that_its_thread_changes),
		cmocka_unit_test(test_atomic8_load_that_a_handler_interrupts_is_not_torn),
		cmocka_unit_test(test_atomic8_change_keeps_the_signal_mask),
		cmocka_unit_test(test_atomic8_child_of_a_fork_beside_changes_goes_on),
	};

	harness_watchdog(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
