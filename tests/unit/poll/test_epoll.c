/* SPDX-License-Identifier: MIT */
/* test_epoll.c - what every poller promises, and what only epoll must handle */
#define POLLER fib_poller_epoll
#include "cases.h"
#include "refused.h"

#include <sys/syscall.h>

static void test_epoll_waits_as_well_on_a_kernel_without_pwait2(void **state)
{
	(void)state;
	assert_waits_without(SYS_epoll_pwait2);
}

/* Which registrations there are tells which file a number means (io/registration.c). */
static void test_epoll_tells_whether_the_file_was_registered(void **state)
{
	const int number = 300;

	(void)state;
	assert_int_equal(dup2(a, number), number);
	assert_int_equal(ops->rewatch(poller, number, 1), 1);
	assert_int_equal(ops->rewatch(poller, number, 2), 0);
	assert_int_equal(ops->watch(poller, number, 3), 0);
	assert_int_equal(ops->holds(poller, number, 9), 0);
	assert_int_equal(look(), 1);
	assert_int_equal(events[0].token, 3);
	/* The old file lives on, under the same number, as `a`. */
	assert_int_equal(dup2(b, number), number);
	assert_int_equal(ops->forget(poller, number), -ENOENT);
	assert_int_equal(ops->rewatch(poller, number, 4), 1);
	assert_int_equal(ops->rewatch(poller, number, 5), 0);
	assert_int_equal(dup2(a, number), number);
	assert_int_equal(ops->rewatch(poller, number, 6), 0);
	assert_int_equal(ops->forget(poller, number), 0);
	assert_int_equal(ops->forget(poller, number), -ENOENT);
	assert_int_equal(ops->holds(poller, number, 8), 1);
	assert_int_equal(ops->holds(poller, number, 8), 0);
	close(number);
	assert_int_equal(ops->holds(poller, number, 8), -EBADF);
	assert_int_equal(ops->forget(poller, number), -EBADF);
	assert_int_equal(ops->rewatch(poller, number, 7), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASES,
		CASE(test_epoll_waits_as_well_on_a_kernel_without_pwait2),
		CASE(test_epoll_tells_whether_the_file_was_registered),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
