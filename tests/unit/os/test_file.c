/* SPDX-License-Identifier: MIT */
/*
 * test_file.c - reads and writes where the kernel or a sandbox has no preadv2(2) and pwritev2(2)
 *
 * The calls are forbidden in a child, because a filter cannot be removed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/os.h"
#include "tests/harness/child.h"
#include "tests/harness/forbid.h"
#include "tests/harness/watchdog.h"

/* What the child has found, in its exit status. */
enum { AS_EXPECTED, FORBIDS_NOTHING, WRONG };

/* The harness reports what a child writes to stderr. */
static int failed(const char *what, long got)
{
	fprintf(stderr, "%s: %ld\n", what, got);
	return WRONG;
}

/* Each end of a pipe, used in its direction and in the other. */
static int use_pipe(int flags)
{
	const ssize_t expected = flags & O_NONBLOCK ? -EAGAIN : FIB_OS_UNSURE;
	char byte = 'b';
	struct iovec v = {&byte, 1};
	ssize_t n;
	int fds[2];

	if (pipe2(fds, flags) < 0)
		return failed("pipe2", errno);
	if ((n = fib_os_read(fds[1], &byte, 1)) != -EBADF)
		return failed("read from the end for writing", n);
	if ((n = fib_os_readv(fds[1], &v, 1)) != -EBADF)
		return failed("readv from the end for writing", n);
	if ((n = fib_os_write(fds[0], &byte, 1)) != -EBADF)
		return failed("write to the end for reading", n);
	if ((n = fib_os_writev(fds[0], &v, 1)) != -EBADF)
		return failed("writev to the end for reading", n);
	if ((n = fib_os_read(fds[0], &byte, 1)) != expected)
		return failed("read from an empty pipe", n);
	if ((n = fib_os_write_unsure(fds[1], &v, 1)) != 1)
		return failed("write", n);
	if ((n = fib_os_read_unsure(fds[0], &v, 1)) != 1)
		return failed("read", n);
	close(fds[0]);
	close(fds[1]);
	return AS_EXPECTED;
}

/* A file on a disk is slow, whatever it was opened for. */
static int use_disk(void)
{
	FILE *file = tmpfile();
	bool plain = true;
	char byte;
	ssize_t n;

	if (!file)
		return failed("tmpfile", errno);
	n = fib_os_read_as(fileno(file), &byte, 1, &plain);
	fclose(file);
	return n == FIB_OS_SLOW && !plain ? AS_EXPECTED : failed("read from a disk", n);
}

static int without_the_calls(void *arg)
{
	const unsigned error = *(const unsigned *)arg;
	char byte;
	struct iovec v = {&byte, 1};
	int rc;

	/* Where no filter can be set, the calls may be missing all the same: qemu has none. */
	harness_forbid(SYS_preadv2, error);
	harness_forbid(SYS_pwritev2, error);
	if (preadv2(-1, &v, 1, -1, RWF_NOWAIT) < 0 && errno == EBADF)
		return FORBIDS_NOTHING;
	rc = use_pipe(0);
	if (rc == AS_EXPECTED)
		rc = use_pipe(O_NONBLOCK);
	return rc == AS_EXPECTED ? use_disk() : rc;
}

static void found_without_the_calls(unsigned error)
{
	struct harness_child child;

	harness_child(without_the_calls, &error, 30, &child);
	if (child.code == FORBIDS_NOTHING) {
		print_message("# skipped: no filter can be set\n");
		skip();
	}
	assert_string_equal(child.text, "");
	assert_int_equal(child.code, AS_EXPECTED);
}

static void test_file_of_the_wrong_mode_is_ebadf_where_the_calls_are_missing(void **state)
{
	(void)state;
	found_without_the_calls(ENOSYS);
}

static void test_file_of_the_wrong_mode_is_ebadf_where_the_calls_are_forbidden(void **state)
{
	(void)state;
	found_without_the_calls(EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_of_the_wrong_mode_is_ebadf_where_the_calls_are_missing),
		cmocka_unit_test(
			test_file_of_the_wrong_mode_is_ebadf_where_the_calls_are_forbidden),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
