/* SPDX-License-Identifier: MIT */
/* test_once.c - pthread_once() and call_once() between fibers and plain threads */
#include "mixed.h"

#include <threads.h>

static pthread_once_t once;
static once_flag flag;
static _Atomic int calls, early;

/* It parks, or sleeps: the others wait meanwhile. */
static void call(void)
{
	usleep(20000);
	calls++;
}

static void *call_all(void *arg)
{
	pthread_once(&once, call);
	early += calls != 1;
	return arg;
}

static void test_once_calls_once_and_the_others_wait(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		once = PTHREAD_ONCE_INIT;
		calls = early = 0;
		mixed_run(call_all, NULL);
		assert_int_equal(calls, 1);
		assert_int_equal(early, 0);
	}
}

static void *call_all_c11(void *arg)
{
	call_once(&flag, call);
	early += calls != 1;
	return arg;
}

static void test_once_of_c11_is_the_same(void **state)
{
	(void)state;
	calls = early = 0;
	mixed_run(call_all_c11, NULL);
	assert_int_equal(calls, 1);
	assert_int_equal(early, 0);
}

static _Atomic int begun;

static void be_cancelled(void)
{
	begun++;
	if (begun == 1)
		for (;;)
			usleep(1000);
	calls++;
}

static void *call_and_be_cancelled(void *arg)
{
	pthread_once(&once, be_cancelled);
	return arg;
}

/* The function was left: the next one calls it again. */
static void test_once_that_is_cancelled_is_called_again(void **state)
{
	struct fiber *fiber;
	pthread_t thread;

	(void)state;
#ifdef __SANITIZE_THREAD__
	print_message(
		"# skipped: ThreadSanitizer sees no lock of a thread that is cancelled in its "
		"usleep()\n");
	skip();
#endif
	once = PTHREAD_ONCE_INIT;
	calls = 0;
	assert_int_equal(pthread_create(&thread, NULL, call_and_be_cancelled, NULL), 0);
	while (!begun)
		usleep(1000);
	fiber = inside_suspended(call_and_be_cancelled, NULL);
	pthread_cancel(thread);
	assert_int_equal(pthread_join(thread, NULL), 0);
	inside_join(fiber);
	assert_int_equal(begun, 2);
	assert_int_equal(calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once_calls_once_and_the_others_wait),
		cmocka_unit_test(test_once_of_c11_is_the_same),
		cmocka_unit_test(test_once_that_is_cancelled_is_called_again),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
