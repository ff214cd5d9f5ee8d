/* SPDX-License-Identifier: MIT */
/* test_position.c - pread(2), pwrite(2) and sendfile(2) in a fiber */
#include "outcome.h"

#include <sys/sendfile.h>

static char path[HARNESS_PATH];

/* timeout: the offset. */
static void *do_pread(void *arg)
{
	struct call *c = arg;

	return outcome(c, pread(c->fd, c->buf, c->size, c->timeout));
}

static void *do_pwrite(void *arg)
{
	struct call *c = arg;

	return outcome(c, pwrite(c->fd, c->buf, c->size, c->timeout));
}

static int open_file(void)
{
	const int fd = open(harness_file(path, "file"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static void test_pread_and_pwrite_move_bytes_at_a_place_and_keep_the_offset(void **state)
{
	char bytes[8] = {0};
	struct call c = {.fd = open_file(), .buf = "hello", .size = 5, .timeout = 3};

	(void)state;
	both_give(do_pwrite, &c, 5, 0);
	c.buf = bytes;
	c.size = sizeof bytes;
	both_give(do_pread, &c, 5, 0);
	assert_string_equal(bytes, "hello");
	c.timeout = 8;
	both_give(do_pread, &c, 0, 0);
	c.timeout = 0;
	both_give(do_pread, &c, 8, 0);
	assert_memory_equal(bytes, "\0\0\0hello", 8);
	assert_int_equal(lseek(c.fd, 0, SEEK_CUR), 0);
	c.timeout = -1;
	both_give(do_pread, &c, -1, EINVAL);
	both_give(do_pwrite, &c, -1, EINVAL);
	close(c.fd);
	c.timeout = 0;
	both_give(do_pread, &c, -1, EBADF);
	both_give(do_pwrite, &c, -1, EBADF);
}

static void test_pread_of_a_pipe_is_espipe(void **state)
{
	char byte;
	struct call c = {.buf = &byte, .size = 1};
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	c.fd = fds[0];
	both_give(do_pread, &c, -1, ESPIPE);
	c.fd = fds[1];
	both_give(do_pwrite, &c, -1, ESPIPE);
	close(fds[0]);
	close(fds[1]);
}

struct sending {
	int out, in;
	off_t *offset;
	size_t size;
	int error;
};

static void *do_sendfile(void *arg)
{
	struct sending *s = arg;
	const ssize_t n = sendfile(s->out, s->in, s->offset, s->size);

	s->error = errno;
	return (void *)n;
}

static void test_sendfile_parks_until_the_socket_has_taken_all(void **state)
{
	static char bytes[1 << 20], got[1 << 20];
	const int fd = open_file();

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7 + i / 256);
	assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
	for (int with_offset = 0; with_offset < 2; with_offset++) {
		const off_t start = 100;
		off_t at = start;
		struct sending s = {.in = fd, .size = 2 * sizeof bytes};
		struct fiber *f;
		int fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		assert_int_equal(lseek(fd, start, SEEK_SET), start);
		s.out = fds[1];
		s.offset = with_offset ? &at : NULL;
		f = inside_suspended(do_sendfile, &s);
		assert_int_equal(recv(fds[0], got, sizeof got - start, MSG_WAITALL),
				 sizeof got - start);
		assert_int_equal(inside_join(f), sizeof bytes - start);
		assert_memory_equal(got, bytes + start, sizeof bytes - start);
		assert_int_equal(at, with_offset ? (off_t)sizeof bytes : start);
		assert_int_equal(lseek(fd, 0, SEEK_CUR), with_offset ? start : (off_t)sizeof bytes);
		close(fds[0]);
		close(fds[1]);
	}
	close(fd);
}

static void test_sendfile_of_a_non_blocking_socket_does_not_park(void **state)
{
	struct sending s = {.size = 100};
	int fds[2];

	(void)state;
	s.in = open_file();
	assert_int_equal(write(s.in, "hello", 5), 5);
	assert_int_equal(lseek(s.in, 0, SEEK_SET), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	fill(fds[1]);
	set_nonblocking(fds[1]);
	s.out = fds[1];
	assert_int_equal(inside(do_sendfile, &s), -1);
	assert_int_equal(s.error, EAGAIN);
	close(fds[0]);
	close(fds[1]);
	close(s.in);
}

static void test_pwrite_to_a_file_that_is_appended_to_writes_each_byte_once(void **state)
{
	static char bytes[1 << 20];
	struct call c = {.fd = open_file(), .buf = bytes, .size = sizeof bytes};

	(void)state;
	assert_int_equal(fcntl(c.fd, F_SETFL, O_APPEND), 0);
	for (int i = 1; i <= 8; i++) {
		assert_int_equal(inside(do_pwrite, &c), sizeof bytes);
		assert_int_equal(lseek(c.fd, 0, SEEK_END), i * (off_t)sizeof bytes);
	}
	close(c.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pread_and_pwrite_move_bytes_at_a_place_and_keep_the_offset),
		cmocka_unit_test(test_pread_of_a_pipe_is_espipe),
		cmocka_unit_test(test_sendfile_parks_until_the_socket_has_taken_all),
		cmocka_unit_test(test_sendfile_of_a_non_blocking_socket_does_not_park),
		cmocka_unit_test(test_pwrite_to_a_file_that_is_appended_to_writes_each_byte_once),
	};

	OUTCOME_MAIN(tests);
}
