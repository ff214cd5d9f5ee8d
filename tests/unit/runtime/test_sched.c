/* SPDX-License-Identifier: MIT */
/*
 * test_sched.c - a scheduler starts completely or not at all, and leaves nothing when it stops
 *
 * pthread_create is replaced here, so that a thread can be missing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/harness/entries.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "watch/tick.h"

static int threads_left = -1; /* -1: no limit */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!threads_left)
		return EAGAIN;
	if (threads_left > 0)
		threads_left--;
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(thread, attr, fn, arg);
}

static struct fib_sched s;

static int start(unsigned n)
{
	const struct fiber_runtime_options o = {.carriers = n,
						.carriers_max = n,
						.stack_size = FIB_STACK_DEFAULT,
						.pinned_policy = FIBER_PINNED_ERROR};

	return fib_sched_start(&s, &o, carriers_ignore);
}

static bool as_many_threads(void *arg)
{
	return harness_thread_count() == *(unsigned *)arg;
}

static void *nothing(void *arg)
{
	return arg;
}

static void test_sched_starts_and_stops_with_any_number_of_carriers(void **state)
{
	const unsigned numbers[] = {1, 2, 3, 8, 16};
	uint64_t serial = 0;
	unsigned i, c;

	(void)state;
	for (i = 0; i < fib_countof(numbers); i++) {
		assert_int_equal(start(numbers[i]), 0);
		assert_int_equal(s.carrier_count, numbers[i]);
		assert_true(s.serial > serial);
		assert_int_equal(fib_load(&s.pinned.policy), FIBER_PINNED_ERROR);
		assert_int_equal(fib_tick_carriers(), numbers[i]);
		for (c = 0; c < numbers[i]; c++) {
			assert_int_equal(s.carriers[c].index, c);
			assert_ptr_equal(s.carriers[c].sched, &s);
		}
		serial = s.serial;
		if (i % 2)
			assert_int_equal(fiber_join(carriers_spawn(&s, "one", nothing, NULL), NULL,
						    FIBER_FOREVER),
					 0);
		carriers_stop(&s);
		assert_int_equal(fib_tick_carriers(), 0);
	}
}

static void test_sched_leaves_no_thread_and_no_descriptor(void **state)
{
	unsigned fds, threads, i;

	(void)state;
	assert_int_equal(start(4), 0); /* does the one-time initialisation */
	carriers_stop(&s);
	fds = harness_descriptors();
	threads = harness_thread_count();
	for (i = 0; i < 30; i++) {
		assert_int_equal(start(4), 0);
		carriers_stop(&s);
	}
	assert_int_equal(harness_descriptors(), fds);
	assert_true(harness_until(as_many_threads, &threads, LIMIT_S));
}

static void test_sched_without_enough_threads_leaves_nothing(void **state)
{
	unsigned fds = harness_descriptors(), threads = harness_thread_count();
	int n;

	(void)state;
	for (n = 0; n < 4; n++) {
		threads_left = n;
		assert_int_equal(start(4), -EAGAIN);
		threads_left = -1;
		assert_int_equal(harness_descriptors(), fds);
		assert_true(harness_until(as_many_threads, &threads, LIMIT_S));
		assert_int_equal(fib_tick_carriers(), 0);
	}
	assert_int_equal(start(4), 0);
	carriers_stop(&s);
}

static void test_sched_without_a_descriptor_leaves_nothing(void **state)
{
	unsigned fds = harness_descriptors();
	struct rlimit before, none;
	int rc;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = start(2);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(rc, -EMFILE);
	assert_int_equal(harness_descriptors(), fds);
	assert_int_equal(fib_tick_carriers(), 0);
}

static sigset_t blocked;

static void *looks_at_its_signals(void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	return arg;
}

static void test_sched_leaves_the_program_s_signals_to_its_own_threads(void **state)
{
	const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	const int others[] = {SIGTERM, SIGINT, SIGUSR1, SIGALRM, SIGCHLD};
	sigset_t mine;
	size_t i;

	(void)state;
	carriers_run(1, looks_at_its_signals, NULL);
	for (i = 0; i < fib_countof(faults); i++)
		assert_int_equal(sigismember(&blocked, faults[i]), 0);
	for (i = 0; i < fib_countof(others); i++)
		assert_int_equal(sigismember(&blocked, others[i]), 1);
	/* The caller's own mask is unchanged. */
	pthread_sigmask(SIG_SETMASK, NULL, &mine);
	assert_int_equal(sigismember(&mine, SIGTERM), 0);
}

static struct fib_sched two[2];
static struct fiber *_Atomic meet[2];

/* Wakes the peer in the other scheduler, is woken by it, and stays in its own scheduler. */
static void *writes_letters(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	unsigned i;

	while (!fib_load_acquire(&meet[!me]))
		fiber_yield();
	for (i = 0; i < 1000; i++) {
		if (me)
			must(fiber_park(FIBER_FOREVER) == 0);
		fiber_unpark(fib_load(&meet[!me]));
		if (!me)
			must(fiber_park(FIBER_FOREVER) == 0);
		must(fib_carrier_self()->sched == &two[me]);
	}
	return NULL;
}

static void test_sched_two_at_once_wake_each_other_s_fibers_and_keep_their_own(void **state)
{
	struct fiber_result r;
	struct fiber *f[2];
	uintptr_t i;

	(void)state;
	carriers_start(&two[0], 1);
	carriers_start(&two[1], 2);
	assert_int_equal(fib_tick_carriers(), 3);
	for (i = 0; i < 2; i++)
		f[i] = carriers_spawn(&two[i], "writer", writes_letters, (void *)i);
	for (i = 0; i < 2; i++)
		fib_store_release(&meet[i], f[i]);
	for (i = 0; i < 2; i++) {
		assert_int_equal(fiber_join(f[i], &r, FIBER_FOREVER), 0);
		_assert_true(!r.value, r.value ? r.value : "", __FILE__, __LINE__);
	}
	carriers_stop(&two[0]);
	assert_int_equal(fib_tick_carriers(), 2);
	assert_int_equal(
		fiber_join(carriers_spawn(&two[1], "one", nothing, NULL), NULL, FIBER_FOREVER), 0);
	carriers_stop(&two[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sched_starts_and_stops_with_any_number_of_carriers),
		cmocka_unit_test(test_sched_leaves_no_thread_and_no_descriptor),
		cmocka_unit_test(test_sched_without_enough_threads_leaves_nothing),
		cmocka_unit_test(test_sched_without_a_descriptor_leaves_nothing),
		cmocka_unit_test(test_sched_leaves_the_program_s_signals_to_its_own_threads),
		cmocka_unit_test(
			test_sched_two_at_once_wake_each_other_s_fibers_and_keep_their_own),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
