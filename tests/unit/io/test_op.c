/* SPDX-License-Identifier: MIT */
/*
 * test_op.c - without io_uring everything works except operations, which return an error
 *
 * Operations on io_uring, with several carriers and each poller, are tested in
 * tests/system/test_op.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fiber.h>

#include "base/compiler.h"
#include "tests/harness/child.h"
#include "tests/harness/forbid.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

static void *goes_through_a_pipe(void *arg)
{
	int *fd = arg;
	char byte;

	return (void *)(fiber_read(fd[0], &byte, 1, FIBER_FOREVER) - 1);
}

static void *goes_on_without(void *arg)
{
	const int expected = *(int *)arg;
	struct io_uring_sqe *sqe = NULL;
	struct fiber_op *op = NULL;
	struct fiber_result result;
	struct fiber *reader;
	int fd[2], i;

	for (i = 0; i < 3; i++)
		if (fiber_op_prepare(&op, &sqe) != -expected || op || sqe)
			return arg;
	if (pipe(fd) < 0 || fiber_spawn(goes_through_a_pipe, fd, &reader) < 0)
		return arg;
	fiber_yield();
	if (write(fd[1], "x", 1) != 1 || fiber_join(reader, &result, FIBER_FOREVER) < 0)
		return arg;
	return result.value;
}

static int run_without(void *arg)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 2, .control_path = ""};
	struct fiber_result result = {NULL, 1};

	if (!harness_forbid(SYS_io_uring_setup, *(unsigned *)arg))
		return 1;
	if (fiber_run(goes_on_without, arg, &options, &result) < 0)
		return 2;
	return result.value || result.error ? 3 : 0;
}

static void run_in_a_child(unsigned error)
{
	struct harness_child child;

	harness_child(run_without, &error, 20, &child);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

/* A child may not make threads under ThreadSanitizer. */
static bool no_children(void)
{
	return !strcmp(harness_sanitizer(), "thread");
}

static bool compiled_without(void)
{
	struct harness_child child;
	unsigned error = ENOSYS;

	/* The result does not depend on the machine. */
	harness_child(run_without, &error, 20, &child);
	error = EPERM;
	if (child.signal || child.code)
		return false;
	harness_child(run_without, &error, 20, &child);
	return child.code == 3;
}

static void test_op_says_that_there_is_no_io_uring_and_fibers_go_on(void **state)
{
	(void)state;
	if (no_children())
		skip();
	run_in_a_child(ENOSYS);
	assert_int_equal(setenv("FIBER_POLLER", "uring", 1), 0);
	run_in_a_child(ENOSYS);
	unsetenv("FIBER_POLLER");
}

static void test_op_says_that_io_uring_is_forbidden_and_fibers_go_on(void **state)
{
	(void)state;
	if (no_children() || compiled_without())
		skip();
	run_in_a_child(EPERM);
	assert_int_equal(setenv("FIBER_POLLER", "uring", 1), 0);
	run_in_a_child(EPERM);
	unsetenv("FIBER_POLLER");
}

static void test_op_cannot_be_prepared_outside_a_fiber(void **state)
{
	struct io_uring_sqe *sqe = NULL;
	struct fiber_op *op = NULL;

	(void)state;
	assert_int_equal(fiber_op_prepare(&op, &sqe), -EPERM);
	assert_null(op);
	assert_null(sqe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_op_says_that_there_is_no_io_uring_and_fibers_go_on),
		cmocka_unit_test(test_op_says_that_io_uring_is_forbidden_and_fibers_go_on),
		cmocka_unit_test(test_op_cannot_be_prepared_outside_a_fiber),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
