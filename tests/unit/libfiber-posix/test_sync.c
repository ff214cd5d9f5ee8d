/* SPDX-License-Identifier: MIT */
/* test_sync.c - fsync(2) and relatives are made on another thread */
#include "outcome.h"

#include "system/system.h"

static void *do_fsync(void *arg)
{
	struct call *c = arg;

	return outcome(c, fsync(c->fd));
}

static void *do_fdatasync(void *arg)
{
	struct call *c = arg;

	return outcome(c, fdatasync(c->fd));
}

static void *do_sync_file_range(void *arg)
{
	struct call *c = arg;

	return outcome(c, sync_file_range(c->fd, 0, 4096, (unsigned)c->flags));
}

static fiber_fn *const syncs[] = {do_fsync, do_fdatasync, do_sync_file_range};

static int open_file(void)
{
	char path[HARNESS_PATH];
	const int fd = open(harness_file(path, "file"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "hello", 5), 5);
	return fd;
}

static void test_sync_gives_what_the_system_gives(void **state)
{
	struct call c = {.fd = open_file(),
			 .flags = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE};
	int fds[2];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		both_give(syncs[i], &c, 0, 0);
	close(c.fd);
	for (size_t i = 0; i < 3; i++)
		both_give(syncs[i], &c, -1, EBADF);
	assert_int_equal(pipe(fds), 0);
	c.fd = fds[0];
	both_give(do_fsync, &c, -1, EINVAL);
	both_give(do_fdatasync, &c, -1, EINVAL);
	both_give(do_sync_file_range, &c, -1, ESPIPE);
	close(fds[0]);
	close(fds[1]);
}

/* -- a disk that is slow: it answers when the test writes to this pipe -- */

static int answers[2];
static struct fpx_system before;

static int slow(void)
{
	char byte;

	return before.read(answers[0], &byte, 1) == 1 ? 0 : -1;
}

static int slow_fsync(int fd)
{
	return slow() < 0 ? -1 : before.fsync(fd);
}

static int slow_fdatasync(int fd)
{
	return slow() < 0 ? -1 : before.fdatasync(fd);
}

static int slow_sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags)
{
	return slow() < 0 ? -1 : before.sync_file_range(fd, offset, size, flags);
}

static void begin_slowness(void)
{
	assert_int_equal(pipe(answers), 0);
	before = fpx_system;
	fpx_system.fsync = slow_fsync;
	fpx_system.fdatasync = slow_fdatasync;
	fpx_system.sync_file_range = slow_sync_file_range;
}

static void end_slowness(void)
{
	fpx_system.fsync = before.fsync;
	fpx_system.fdatasync = before.fdatasync;
	fpx_system.sync_file_range = before.sync_file_range;
	close(answers[0]);
	close(answers[1]);
}

static void *cancelled_fsync(void *arg)
{
	return as_cancelled(do_fsync, arg);
}

static void test_fiber_parks_while_the_disk_is_slow(void **state)
{
	struct call c = {.fd = open_file()};

	(void)state;
	begin_slowness();
	for (size_t i = 0; i < 3; i++) {
		struct fiber *f = inside_suspended(syncs[i], &c);

		assert_int_equal(write(answers[1], "x", 1), 1);
		assert_int_equal(inside_join(f), 0);
	}
	end_slowness();
	close(c.fd);
}

/* What it has written is on the disk then, although it is cancelled. */
static void test_cancelled_fiber_waits_for_the_disk(void **state)
{
	struct call c = {.fd = open_file()};
	struct fiber *f;

	(void)state;
	begin_slowness();
	f = inside_suspended(cancelled_fsync, &c);
	assert_int_equal(write(answers[1], "x", 1), 1);
	assert_int_equal(inside_join_cancelled(f), 0);
	end_slowness();
	close(c.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sync_gives_what_the_system_gives),
		cmocka_unit_test(test_fiber_parks_while_the_disk_is_slow),
		cmocka_unit_test(test_cancelled_fiber_waits_for_the_disk),
	};

	OUTCOME_MAIN(tests);
}
