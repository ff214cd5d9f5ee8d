/* SPDX-License-Identifier: MIT */
/* test_waker.c - wakers write to the waker's descriptor, never to a reused number */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "os/os.h"
#include "service/waker.h"
#include "tests/harness/watchdog.h"

static bool readable(void)
{
	struct pollfd p = {.fd = fib_waker_fd(), .events = POLLIN};

	return fib_os_poll(&p, 1, 0) == 1 && p.revents == POLLIN;
}

static void test_waker_is_readable_from_a_wake_until_it_is_cleared(void **state)
{
	(void)state;
	assert_int_equal(fib_waker_open(), 0);
	assert_false(readable());
	fib_waker_wake();
	fib_waker_wake();
	assert_true(readable());
	fib_waker_clear();
	assert_false(readable());
	fib_waker_close();
	assert_int_equal(fib_waker_fd(), -1);
	fib_waker_wake();
}

static void test_waker_that_is_lost_leaves_its_number_alone(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(fib_waker_open(), 0);
	fd = fib_waker_fd();
	fib_waker_lose();
	fib_waker_wake();
	fib_waker_close();
	assert_true(fcntl(fd, F_GETFD) >= 0);
	close(fd);
}

static _Atomic bool stop;

static void *wake_without_end(void *arg)
{
	(void)arg;
	while (!stop)
		fib_waker_wake();
	return NULL;
}

/* A pipe gets the number as soon as it is free, and must stay empty. */
static void test_waker_writes_nothing_into_what_gets_its_number(void **state)
{
	pthread_t threads[2];
	int i, ends[2], number;
	char c;

	(void)state;
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wake_without_end, NULL), 0);
	for (i = 0; i < 2000; i++) {
		assert_int_equal(fib_waker_open(), 0);
		number = fib_waker_fd();
		assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
		fib_waker_close();
		assert_int_equal(dup2(ends[1], number), number);
		fib_os_yield();
		assert_int_equal(read(ends[0], &c, 1), -1);
		close(number);
		close(ends[0]);
		close(ends[1]);
	}
	stop = true;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waker_is_readable_from_a_wake_until_it_is_cleared),
		cmocka_unit_test(test_waker_that_is_lost_leaves_its_number_alone),
		cmocka_unit_test(test_waker_writes_nothing_into_what_gets_its_number),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
