/* SPDX-License-Identifier: MIT */
/* win32_test.h - what the tests of libfiber-win32 share: a fiber records, the test asserts */
#ifndef WIN32_TEST_H
#define WIN32_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include <fiber/win32.h>

#include "tests/harness/child.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

#define MARK 0xdeadbeefu /* a last error that no call sets */

/* Run fn(arg) in a thread of its own and return what it exits with. */
static inline uintptr_t in_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, fn, arg), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	return (uintptr_t)result;
}

/* Check that fn aborts with a line that contains text. */
static inline void assert_aborts(int (*fn)(void *), const char *text)
{
	struct harness_child child;

	harness_child(fn, NULL, 20, &child);
	assert_int_equal(child.signal, SIGABRT);
	assert_non_null(strstr(child.text, "libfiber-win32: "));
	assert_non_null(strstr(child.text, text));
}

#endif
