/* SPDX-License-Identifier: MIT */
/* test_vector.c - bytes to and from several pieces, on every kind of descriptor */
#include "inside.h"

#include <limits.h>
#include <stdio.h>
#include <sys/un.h>

struct move {
	int fd;
	struct iovec *pieces;
	int count;
	int64_t deadline;
};

static void *do_readv(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_readv(m->fd, m->pieces, m->count, m->deadline);
}

static void *do_writev(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_writev(m->fd, m->pieces, m->count, m->deadline);
}

static void *do_readv_pinned(void *arg)
{
	return as_pinned(do_readv, arg);
}

/* "hello, world" from three pieces, one of them empty, into two. */
static void through(int in, int out, bool rewind)
{
	char hello[] = "hello, ", world[] = "world", first[5], rest[20] = "";
	struct iovec from[] = {{hello, 7}, {NULL, 0}, {world, 5}};
	struct iovec to[] = {{first, sizeof first}, {rest, sizeof rest}};
	struct move m = {in, from, 3, FIBER_FOREVER};
	intptr_t n;

	n = inside(do_writev, &m);
	assert_int_equal(n, 12);
	if (rewind)
		assert_int_equal(lseek(in, 0, SEEK_SET), 0);
	m = (struct move){out, to, 2, FIBER_FOREVER};
	n = inside(do_readv, &m);
	assert_int_equal(n, 12);
	assert_memory_equal(first, "hello", 5);
	assert_memory_equal(rest, ", world", 7);
}

static void test_vector_pieces_go_through_sockets_pipes_and_files(void **state)
{
	static const int flags[] = {0, O_NONBLOCK};
	FILE *file = tmpfile();
	int fds[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | flags[i], 0, fds), 0);
		through(fds[0], fds[1], false);
		assert_int_equal(fcntl(fds[0], F_GETFL) & O_NONBLOCK, flags[i]);
		fiber_close(fds[0]);
		fiber_close(fds[1]);
		assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | flags[i], 0, fds), 0);
		through(fds[0], fds[1], false);
		fiber_close(fds[0]);
		fiber_close(fds[1]);
		assert_int_equal(pipe2(fds, flags[i]), 0);
		through(fds[1], fds[0], false);
		assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, flags[i]);
		fiber_close(fds[0]);
		fiber_close(fds[1]);
	}
	assert_non_null(file);
	through(fileno(file), fileno(file), true);
	fclose(file);
}

static void test_vector_waits_until_bytes_come(void **state)
{
	char bytes[8];
	struct iovec v = {bytes, sizeof bytes};
	struct move m = {-1, &v, 1, FIBER_FOREVER};
	struct fiber *f;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	m.fd = fds[0];
	f = inside_suspended(do_readv, &m);
	assert_int_equal(write(fds[1], "abc", 3), 3);
	assert_int_equal(inside_join(f), 3);
	m.deadline = 0;
	assert_int_equal(inside(do_readv, &m), -ETIMEDOUT);
	m.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_readv, &m), -ETIMEDOUT);
	assert_true(fiber_now() >= m.deadline);
	m.deadline = fiber_after(2 * MS);
	assert_int_equal(on_a_thread(do_readv, &m), -ETIMEDOUT);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR), 0);
	m.deadline = FIBER_FOREVER;
	assert_int_equal(inside(do_readv_pinned, &m), -EDEADLK);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_WARN), 0);
	close(fds[1]);
	assert_int_equal(inside(do_readv, &m), 0);
	fiber_close(fds[0]);
}

static void test_vector_write_is_short_where_there_is_no_room_for_all(void **state)
{
	static char much[2][1 << 20];
	struct iovec v[] = {{much[0], sizeof much[0]}, {much[1], sizeof much[1]}};
	int fds[2];
	struct move m = {-1, v, 2, fiber_after(5 * MS)};
	intptr_t n;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	m.fd = fds[0];
	n = inside(do_writev, &m);
	assert_true(n > 0 && n < (intptr_t)sizeof much);
	do
		n = inside(do_writev, &m);
	while (n > 0);
	assert_int_equal(n, -ETIMEDOUT);
	close(fds[1]);
	assert_int_equal(inside(do_writev, &m), -EPIPE);
	fiber_close(fds[0]);
}

static void test_vector_of_no_bytes_reads_nothing_and_waits_for_nothing(void **state)
{
	char byte;
	struct iovec empty[2] = {{&byte, 0}, {NULL, 0}}, one = {&byte, 1};
	struct move m = {-1, empty, 2, FIBER_FOREVER};
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	m.fd = fds[0];
	assert_int_equal(inside(do_readv, &m), 0);
	m.count = 0;
	assert_int_equal(inside(do_readv, &m), 0);
	assert_int_equal(send(fds[1], "x", 1, 0), 1);
	assert_int_equal(inside(do_readv, &m), 0);
	m = (struct move){fds[0], &one, 1, FIBER_FOREVER};
	assert_int_equal(inside(do_readv, &m), 1);
	fiber_close(fds[0]);
	close(fds[1]);
}

static void test_vector_errors_of_the_system_come_through(void **state)
{
	static struct iovec many[IOV_MAX + 1];
	char bytes[4] = "abc";
	struct iovec v = {bytes, 3};
	struct move m = {-1, &v, 1, FIBER_FOREVER};
	int fds[2];

	(void)state;
	assert_int_equal(inside(do_readv, &m), -EBADF);
	assert_int_equal(inside(do_writev, &m), -EBADF);
	assert_int_equal(pipe(fds), 0);
	for (int i = 0; i < 2; i++) {
		m.fd = fds[i];
		m.pieces = many;
		m.count = IOV_MAX + 1;
		assert_int_equal(inside(i ? do_writev : do_readv, &m), -EINVAL);
		m.count = -1;
		assert_int_equal(inside(i ? do_writev : do_readv, &m), -EINVAL);
		m.pieces = &v;
		m.count = 1;
		assert_int_equal(inside(i ? do_readv : do_writev, &m), -EBADF); /* wrong end */
	}
	m.fd = fds[1];
	close(fds[0]);
	assert_int_equal(inside(do_writev, &m), -EPIPE);
	fiber_close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector_pieces_go_through_sockets_pipes_and_files),
		cmocka_unit_test(test_vector_waits_until_bytes_come),
		cmocka_unit_test(test_vector_write_is_short_where_there_is_no_room_for_all),
		cmocka_unit_test(test_vector_of_no_bytes_reads_nothing_and_waits_for_nothing),
		cmocka_unit_test(test_vector_errors_of_the_system_come_through),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
