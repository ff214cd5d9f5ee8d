/* SPDX-License-Identifier: MIT */
/* test_launch.c - a launched thread has finished its start, and blocks all signals */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <unistd.h>

#include "os/os.h"
#include "service/launch.h"
#include "tests/harness/watchdog.h"

static struct fib_launch launch;
static _Atomic int prepared, blocked;
static int64_t slept;

static void *prepares(void *arg)
{
	sigset_t set;

	usleep(20000);
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	blocked = sigismember(&set, SIGPIPE) && sigismember(&set, SIGTERM);
	prepared++;
	fib_launch_done(&launch);
	return arg;
}

static void *sleeps(void *arg)
{
	const int64_t now = fib_os_now();

	fib_launch_done(&launch);
	fib_launch_sleep(&launch, now + 20000000);
	slept = fib_os_now() - now;
	return arg;
}

static void test_launch_returns_when_the_thread_is_past_its_start(void **state)
{
	pthread_t thread;
	int i;

	(void)state;
	for (i = 1; i <= 3; i++) {
		assert_int_equal(fib_launch(&launch, &thread, prepares, NULL), 0);
		assert_int_equal(prepared, i);
		pthread_join(thread, NULL);
	}
	assert_true(blocked);
}

static void test_launch_sleep_ends_in_time(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(fib_launch(&launch, &thread, sleeps, NULL), 0);
	pthread_join(thread, NULL);
	assert_true(slept >= 20000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launch_returns_when_the_thread_is_past_its_start),
		cmocka_unit_test(test_launch_sleep_ends_in_time),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
