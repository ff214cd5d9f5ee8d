/* SPDX-License-Identifier: MIT */
/* test_stream.c - read(2), write(2) and their vectors in a fiber, as POSIX says */
#include "outcome.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

static void *do_read(void *arg)
{
	struct call *c = arg;

	return outcome(c, read(c->fd, c->buf, c->size));
}

static void *do_write(void *arg)
{
	struct call *c = arg;

	return outcome(c, write(c->fd, c->buf, c->size));
}

static void *do_readv(void *arg)
{
	struct call *c = arg;
	const struct iovec v[2] = {{c->buf, 1}, {(char *)c->buf + 1, c->size - 1}};

	return outcome(c, readv(c->fd, v, 2));
}

static void *do_writev(void *arg)
{
	struct call *c = arg;
	const struct iovec v[3] = {{c->buf, 1}, {c->buf, 0}, {(char *)c->buf + 1, c->size - 1}};

	return outcome(c, writev(c->fd, v, 3));
}

static const struct {
	const char *name;
	bool socket;
} kinds[] = {{"pipe", false}, {"socket", true}};

static void open_kind(size_t i, int fds[2])
{
	assert_int_equal(kinds[i].socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds), 0);
}

static void close_both(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static void test_read_of_an_empty_descriptor_parks_until_bytes_come(void **state)
{
	fiber_fn *const reads[] = {do_read, do_readv};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char bytes[8] = {0};
		int fds[2];
		struct call c = {.buf = bytes, .size = sizeof bytes};
		struct fiber *f;

		open_kind(i / 2, fds);
		c.fd = fds[0];
		f = inside_suspended(reads[i % 2], &c);
		assert_int_equal(write(fds[1], "abc", 3), 3);
		assert_int_equal(inside_join(f), 3);
		assert_string_equal(bytes, "abc");
		close_both(fds);
	}
}

static void test_read_gives_the_end_and_the_system_s_errors(void **state)
{
	char bytes[8];
	int fds[2];
	struct call c = {.buf = bytes, .size = sizeof bytes};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		open_kind(i, fds);
		close(fds[1]);
		c.fd = fds[0];
		both_give(do_read, &c, 0, 0);
		c.size = 0;
		both_give(do_read, &c, 0, 0);
		c.size = sizeof bytes;
		close(fds[0]);
		both_give(do_read, &c, -1, EBADF);
		both_give(do_readv, &c, -1, EBADF);
	}
	c.fd = -1;
	both_give(do_read, &c, -1, EBADF);
	both_give(do_write, &c, -1, EBADF);
}

static void test_non_blocking_descriptor_gives_eagain_and_keeps_its_flags(void **state)
{
	char bytes[8];
	int fds[2];
	struct call c = {.buf = bytes, .size = sizeof bytes};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		open_kind(i, fds);
		set_nonblocking(fds[0]);
		c.fd = fds[0];
		both_give(do_read, &c, -1, EAGAIN);
		both_give(do_readv, &c, -1, EAGAIN);
		assert_true(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
		fill(fds[1]);
		set_nonblocking(fds[1]);
		c.fd = fds[1];
		both_give(do_write, &c, -1, EAGAIN);
		both_give(do_writev, &c, -1, EAGAIN);
		close_both(fds);
	}
}

/* The flag is set by another descriptor of the same file, after the first call. */
static void test_o_nonblock_that_is_set_later_and_elsewhere_counts(void **state)
{
	char bytes[8];
	int fds[2], again;
	struct call c = {.buf = bytes, .size = sizeof bytes};
	struct fiber *f;

	(void)state;
	open_kind(0, fds);
	c.fd = fds[0];
	f = inside_suspended(do_read, &c);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), 1);
	again = dup(fds[0]);
	set_nonblocking(again);
	both_give(do_read, &c, -1, EAGAIN);
	assert_int_equal(ioctl(again, FIONBIO, &(int){0}), 0);
	f = inside_suspended(do_read, &c);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), 1);
	close(again);
	close_both(fds);
}

static void test_flags_of_a_blocking_descriptor_are_never_changed(void **state)
{
	char bytes[8];
	int fds[2];
	struct call c = {.buf = bytes, .size = sizeof bytes};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fiber *f;

		open_kind(i, fds);
		c.fd = fds[0];
		f = inside_suspended(do_read, &c);
		assert_false(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
		assert_int_equal(write(fds[1], "x", 1), 1);
		assert_int_equal(inside_join(f), 1);
		assert_false(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
		close_both(fds);
	}
}

/* More than fits: a blocking write moves all, in as many waits as it takes. */
static void test_blocking_write_moves_all_bytes(void **state)
{
	static char bytes[1 << 20], got[1 << 20];
	fiber_fn *const writes[] = {do_write, do_writev};

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7 + i / 256);
	for (size_t i = 0; i < 4; i++) {
		struct call c = {.buf = bytes, .size = sizeof bytes};
		size_t done = 0;
		struct fiber *f;
		int fds[2];

		open_kind(i / 2, fds);
		c.fd = fds[1];
		f = inside_suspended(writes[i % 2], &c);
		while (done < sizeof got) {
			const ssize_t n = read(fds[0], got + done, sizeof got - done);

			assert_true(n > 0);
			done += (size_t)n;
		}
		assert_int_equal(inside_join(f), sizeof bytes);
		assert_memory_equal(got, bytes, sizeof bytes);
		close_both(fds);
	}
}

static void test_time_outs_of_a_socket_give_eagain_not_before_their_time(void **state)
{
	char bytes[8];
	int fds[2];
	struct call c = {.buf = bytes, .size = sizeof bytes};
	int64_t began;

	(void)state;
	open_kind(1, fds);
	set_timeout(fds[0], SO_RCVTIMEO, 30);
	set_timeout(fds[1], SO_SNDTIMEO, 30);
	c.fd = fds[0];
	began = fiber_now();
	both_give(do_read, &c, -1, EAGAIN);
	assert_true(fiber_now() - began >= 60 * MS);
	fill(fds[1]);
	c.fd = fds[1];
	began = fiber_now();
	both_give(do_write, &c, -1, EAGAIN);
	assert_true(fiber_now() - began >= 60 * MS);
	close_both(fds);
}

static volatile sig_atomic_t pipes;

static void count_pipe(int number)
{
	(void)number;
	pipes++;
}

static void test_write_without_a_reader_is_epipe_and_sends_sigpipe(void **state)
{
	const struct sigaction count = {.sa_handler = count_pipe};
	struct sigaction before;
	char byte = 'x';
	struct call c = {.buf = &byte, .size = 1};
	int fds[2];

	(void)state;
	assert_int_equal(sigaction(SIGPIPE, &count, &before), 0);
	for (size_t i = 0; i < 2; i++) {
		open_kind(i, fds);
		close(fds[0]);
		c.fd = fds[1];
		pipes = 0;
		assert_int_equal(on_a_thread(do_write, &c), -1);
		assert_int_equal(c.error, EPIPE);
		assert_int_equal(pipes, 1);
		assert_int_equal(inside(do_write, &c), -1);
		assert_int_equal(c.error, EPIPE);
		while (pipes < 2)
			sched_yield();
		close(fds[1]);
	}
	assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
}

static void *cancelled_read(void *arg)
{
	return as_cancelled(do_read, arg);
}

static void test_cancelled_fiber_gets_ecanceled_only_where_it_would_park(void **state)
{
	char bytes[8];
	int fds[2];
	struct call c = {.buf = bytes, .size = 1};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		open_kind(i, fds);
		c.fd = fds[0];
		assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_read, &c)), -1);
		assert_int_equal(c.error, ECANCELED);
		assert_int_equal(write(fds[1], "x", 1), 1);
		assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_read, &c)), 1);
		set_nonblocking(fds[0]);
		assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_read, &c)), -1);
		assert_int_equal(c.error, EAGAIN);
		close_both(fds);
	}
}

static void test_file_on_a_disk_is_read_and_written(void **state)
{
	char path[HARNESS_PATH], bytes[6] = {0};
	struct call c = {.buf = "hello", .size = 5};

	(void)state;
	c.fd = open(harness_file(path, "file"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(c.fd >= 0);
	both_give(do_write, &c, 5, 0);
	assert_int_equal(lseek(c.fd, 0, SEEK_END), 10);
	assert_int_equal(lseek(c.fd, 0, SEEK_SET), 0);
	c.buf = bytes;
	both_give(do_read, &c, 5, 0);
	assert_string_equal(bytes, "hello");
	both_give(do_read, &c, 0, 0);
	close(c.fd);
}

/* The number of a pipe, which is remembered as no socket, comes to mean a socket. */
static void test_number_that_means_a_socket_by_now_is_read_as_one(void **state)
{
	char byte;
	int fds[2], pair[2];
	struct call c = {.buf = &byte, .size = 1};

	(void)state;
	open_kind(0, fds);
	assert_int_equal(write(fds[1], "x", 1), 1);
	c.fd = fds[0];
	assert_int_equal(inside(do_read, &c), 1);
	open_kind(1, pair);
	assert_int_equal(dup2(pair[0], fds[0]), fds[0]);
	assert_int_equal(write(pair[1], "y", 1), 1);
	assert_int_equal(inside(do_read, &c), 1);
	assert_int_equal(byte, 'y');
	set_timeout(fds[0], SO_RCVTIMEO, 10);
	assert_int_equal(inside(do_read, &c), -1);
	assert_int_equal(c.error, EAGAIN);
	close_both(fds);
	close_both(pair);
}

/* The pieces of a message, and of an atomic write to a pipe, are not taken apart by a wait. */
static void test_writev_that_waits_is_one_write(void **state)
{
	static char bytes[65536];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct call c = {.buf = "four", .size = 4};
		struct fiber *f;
		int fds[2];
		ssize_t n;

		assert_int_equal(
			i ? pipe2(fds, O_DIRECT) : socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
		fill(fds[1]);
		c.fd = fds[1];
		f = inside_suspended(do_writev, &c);
		do {
			n = read(fds[0], bytes, sizeof bytes);
		} while (n == 65536 || n == 4096 || (n == 1 && !bytes[0]));
		assert_int_equal(n, 4);
		assert_memory_equal(bytes, "four", 4);
		assert_int_equal(inside_join(f), 4);
		close_both(fds);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_of_an_empty_descriptor_parks_until_bytes_come),
		cmocka_unit_test(test_read_gives_the_end_and_the_system_s_errors),
		cmocka_unit_test(test_non_blocking_descriptor_gives_eagain_and_keeps_its_flags),
		cmocka_unit_test(test_o_nonblock_that_is_set_later_and_elsewhere_counts),
		cmocka_unit_test(test_flags_of_a_blocking_descriptor_are_never_changed),
		cmocka_unit_test(test_blocking_write_moves_all_bytes),
		cmocka_unit_test(test_time_outs_of_a_socket_give_eagain_not_before_their_time),
		cmocka_unit_test(test_write_without_a_reader_is_epipe_and_sends_sigpipe),
		cmocka_unit_test(test_cancelled_fiber_gets_ecanceled_only_where_it_would_park),
		cmocka_unit_test(test_file_on_a_disk_is_read_and_written),
		cmocka_unit_test(test_number_that_means_a_socket_by_now_is_read_as_one),
		cmocka_unit_test(test_writev_that_waits_is_one_write),
	};

	OUTCOME_MAIN(tests);
}
