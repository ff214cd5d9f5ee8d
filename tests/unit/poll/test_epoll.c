/* SPDX-License-Identifier: MIT */
/* test_epoll.c - what every poller promises, and what only epoll must handle */
#define POLLER fib_poller_epoll
#include "cases.h"
#include "tests/harness/forbid.h"

#include <sys/syscall.h>

/* -- in a child: an older kernel -- */

static int wait_on_an_older_kernel(void *arg)
{
	int64_t until;

	(void)arg;
	if (!harness_forbid(SYS_epoll_pwait2, ENOSYS))
		return 1;
	until = fib_os_now() + 2 * MILLISECOND + 1;
	if (ops->wait(poller, events, MANY, until) != 0 || fib_os_now() < until)
		return 2;
	if (ops->watch(poller, a, 3) != 0 || look() != 1 || events[0].token != 3 || look() != 0)
		return 3;
	ops->wake(poller);
	if (ops->wait(poller, events, MANY, INT64_MAX) != 0)
		return 4;
	put(b);
	return ops->wait(poller, events, MANY, INT64_MAX - 1) == 1 ? 0 : 5;
}

static void test_epoll_waits_as_well_on_a_kernel_without_pwait2(void **state)
{
	struct harness_child child;

	(void)state;
	harness_child(wait_on_an_older_kernel, NULL, 20, &child);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
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
