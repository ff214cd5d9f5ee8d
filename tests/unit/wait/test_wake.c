/* SPDX-License-Identifier: MIT */
/* test_wake.c - a thread that sleeps on a word continues when the word has changed */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "core/registry.h"
#include "os/os.h"
#include "tests/harness/watchdog.h"
#include "wait/wake.h"

static _Atomic uint32_t word;

static void *sleeps(void *arg)
{
	while (!fib_load_acquire(&word))
		fib_os_futex_wait(&word, 0, INT64_MAX);
	return arg;
}

static void test_wake_of_a_thread_ends_its_sleep(void **state)
{
	const struct fib_wake wake = {NULL, &word};
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sleeps, NULL), 0);
	fib_store_release(&word, 1);
	fib_wake(&wake, false);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wake_of_a_thread_ends_its_sleep),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (fib_registry_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
