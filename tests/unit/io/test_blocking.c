/* SPDX-License-Identifier: MIT */
/* test_blocking.c - a thread waits in the system, and a pinned fiber where the policy allows */
#include "inside.h"

#include "io/blocking.h"

static int fds[2];

static int make_pipe(void **state)
{
	(void)state;
	return pipe(fds);
}

static int end_pipe(void **state)
{
	(void)state;
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static void *write_one(void *arg)
{
	assert_int_equal(write(fds[1], "x", 1), 1);
	return arg;
}

static void test_blocking_thread_wakes_up_when_it_is_ready(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_one, NULL), 0);
	assert_int_equal(fib_block_for_fd(fds[0], POLLIN, FIBER_FOREVER), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_blocking_thread_times_out_not_before_its_deadline(void **state)
{
	const int64_t deadline = fiber_after(MS);

	(void)state;
	assert_int_equal(fib_block_for_fd(fds[0], POLLIN, 0), -ETIMEDOUT);
	assert_int_equal(fib_block_for_fd(fds[0], POLLIN, deadline), -ETIMEDOUT);
	assert_true(fiber_now() >= deadline);
}

static void test_blocking_for_what_is_no_descriptor_is_told(void **state)
{
	const int closed = dup(fds[0]);

	(void)state;
	close(closed);
	assert_int_equal(fib_block_for_fd(closed, POLLIN, FIBER_FOREVER), -EBADF);
}

static void *pinned(void *arg)
{
	intptr_t rc;

	fiber_pin();
	rc = fib_block_for_fd_pinned(fds[0], POLLIN, *(int64_t *)arg);
	fiber_unpin();
	return (void *)rc;
}

static void test_blocking_pinned_fiber_asks_the_policy_only_when_it_must_wait(void **state)
{
	int64_t deadline = FIBER_FOREVER;

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(inside(pinned, &deadline), -EDEADLK);
	deadline = 0;
	assert_int_equal(inside(pinned, &deadline), -ETIMEDOUT);
	deadline = FIBER_FOREVER;
	write_one(NULL);
	assert_int_equal(inside(pinned, &deadline), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	assert_int_equal(inside(pinned, &deadline), 0);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, make_pipe, end_pipe)
	const struct CMUnitTest tests[] = {
		EACH(test_blocking_thread_wakes_up_when_it_is_ready),
		EACH(test_blocking_thread_times_out_not_before_its_deadline),
		EACH(test_blocking_for_what_is_no_descriptor_is_told),
		EACH(test_blocking_pinned_fiber_asks_the_policy_only_when_it_must_wait),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
