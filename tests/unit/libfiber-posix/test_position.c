/* SPDX-License-Identifier: MIT */
/* test_position.c - pread(2), pwrite(2), their vectors and sendfile(2) in a fiber */
#include "outcome.h"

#include <limits.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "system/system.h"

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

static const char digits[10] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'};

/* A call with pieces. */
struct pieces {
	int fd, count, flags, error;
	off_t offset;
	struct iovec v[4];
};

static void *do_preadv(void *arg)
{
	struct pieces *p = arg;
	const ssize_t n = preadv(p->fd, p->v, p->count, p->offset);

	p->error = errno;
	return (void *)n;
}

static void *do_pwritev(void *arg)
{
	struct pieces *p = arg;
	const ssize_t n = pwritev(p->fd, p->v, p->count, p->offset);

	p->error = errno;
	return (void *)n;
}

static void *do_preadv2(void *arg)
{
	struct pieces *p = arg;
	const ssize_t n = preadv2(p->fd, p->v, p->count, p->offset, p->flags);

	p->error = errno;
	return (void *)n;
}

static void *do_pwritev2(void *arg)
{
	struct pieces *p = arg;
	const ssize_t n = pwritev2(p->fd, p->v, p->count, p->offset, p->flags);

	p->error = errno;
	return (void *)n;
}

static fiber_fn *const reads[] = {do_preadv, do_preadv2};
static fiber_fn *const writes[] = {do_pwritev, do_pwritev2};

static void both_give_pieces(fiber_fn *fn, struct pieces *p, intptr_t n, int error)
{
	assert_int_equal(on_a_thread(fn, p), n);
	if (n < 0)
		assert_int_equal(p->error, error);
	assert_int_equal(inside(fn, p), n);
	if (n < 0)
		assert_int_equal(p->error, error);
}

/* Ten bytes in four pieces, one of which is empty. */
static struct pieces in_pieces(int fd, char *bytes)
{
	return (struct pieces){.fd = fd,
			       .count = 4,
			       .v = {{bytes, 3}, {bytes + 3, 0}, {bytes + 3, 1}, {bytes + 4, 6}}};
}

static void test_vectors_are_moved_at_a_place(void **state)
{
	char bytes[11] = {0};
	struct pieces p = in_pieces(open_file(), bytes);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		memcpy(bytes, digits, sizeof digits);
		p.offset = 5;
		both_give_pieces(writes[i], &p, 10, 0);
		memset(bytes, 0, 10);
		both_give_pieces(reads[i], &p, 10, 0);
		assert_string_equal(bytes, "0123456789");
		p.offset = 9;
		both_give_pieces(reads[i], &p, 6, 0);
		assert_memory_equal(bytes, "456789", 6);
		p.offset = 15;
		both_give_pieces(reads[i], &p, 0, 0);
		assert_int_equal(lseek(p.fd, 0, SEEK_CUR), 0);
	}
	close(p.fd);
}

static void test_vectors_give_the_system_s_errors(void **state)
{
	char bytes[10];
	int fds[2];
	struct pieces p = in_pieces(open_file(), bytes);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		p.offset = -2;
		both_give_pieces(reads[i], &p, -1, EINVAL);
		both_give_pieces(writes[i], &p, -1, EINVAL);
		p.offset = 0;
		p.count = -1;
		both_give_pieces(reads[i], &p, -1, EINVAL);
		both_give_pieces(writes[i], &p, -1, EINVAL);
		p.count = IOV_MAX + 1;
		both_give_pieces(reads[i], &p, -1, EINVAL);
		both_give_pieces(writes[i], &p, -1, EINVAL);
		p.count = 0;
		both_give_pieces(reads[i], &p, 0, 0);
		both_give_pieces(writes[i], &p, 0, 0);
		p.count = 4;
	}
	p.offset = -1;
	both_give_pieces(do_preadv, &p, -1, EINVAL);
	both_give_pieces(do_pwritev, &p, -1, EINVAL);
	p.offset = 0;
	p.flags = 0x40000000;
	both_give_pieces(do_preadv2, &p, -1, EOPNOTSUPP);
	both_give_pieces(do_pwritev2, &p, -1, EOPNOTSUPP);
	p.offset = -1;
	both_give_pieces(do_preadv2, &p, -1, EOPNOTSUPP);
	p.offset = p.flags = 0;
	close(p.fd);
	for (size_t i = 0; i < 2; i++) {
		both_give_pieces(reads[i], &p, -1, EBADF);
		both_give_pieces(writes[i], &p, -1, EBADF);
	}
	assert_int_equal(pipe(fds), 0);
	for (size_t i = 0; i < 2; i++) {
		p.fd = fds[0];
		both_give_pieces(reads[i], &p, -1, ESPIPE);
		p.fd = fds[1];
		both_give_pieces(writes[i], &p, -1, ESPIPE);
	}
	close(fds[0]);
	close(fds[1]);
}

/* An offset of -1 means the descriptor's own: a pipe and a socket are waited for. */
static void test_vectors_with_flags_and_without_an_offset_park(void **state)
{
	static const int flags[] = {0, RWF_HIPRI};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char bytes[10] = {0};
		struct pieces p;
		struct fiber *f;
		int fds[2];

		assert_int_equal(i / 2 ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds), 0);
		p = in_pieces(fds[0], bytes);
		p.offset = -1;
		p.flags = flags[i % 2];
		f = inside_suspended(do_preadv2, &p);
		assert_int_equal(write(fds[1], "hello", 5), 5);
		assert_int_equal(inside_join(f), 5);
		assert_memory_equal(bytes, "hello", 5);
		p.fd = fds[1];
		both_give_pieces(do_pwritev2, &p, 10, 0);
		p.fd = fds[0];
		both_give_pieces(do_preadv2, &p, 10, 0);
		p.flags |= RWF_NOWAIT;
		both_give_pieces(do_preadv2, &p, -1, EAGAIN);
		close(fds[0]);
		close(fds[1]);
	}
}

static void test_vectors_with_flags_move_the_offset_of_a_file(void **state)
{
	static const int flags[] = {0, RWF_DSYNC, RWF_SYNC, RWF_HIPRI};
	char bytes[10];
	struct pieces p = in_pieces(open_file(), bytes);

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		memcpy(bytes, digits, sizeof digits);
		p.flags = flags[i];
		p.offset = -1;
		assert_int_equal(lseek(p.fd, 0, SEEK_SET), 0);
		both_give_pieces(do_pwritev2, &p, 10, 0);
		assert_int_equal(lseek(p.fd, 0, SEEK_CUR), 20);
		assert_int_equal(lseek(p.fd, 3, SEEK_SET), 3);
		assert_int_equal(inside(do_preadv2, &p), 10);
		assert_memory_equal(bytes, "3456789012", 10);
		assert_int_equal(lseek(p.fd, 0, SEEK_CUR), 13);
		p.offset = 1;
		both_give_pieces(do_pwritev2, &p, 10, 0);
	}
	p.flags = RWF_APPEND;
	p.offset = 0;
	both_give_pieces(do_pwritev2, &p, 10, 0);
	assert_int_equal(lseek(p.fd, 0, SEEK_END), 40);
	close(p.fd);
}

/* -- a disk of which only the first bytes are in memory -- */

static struct fpx_system before;
static size_t in_memory;

/* Cut the pieces behind that many bytes. Returns how many are left. */
static int cut(struct iovec out[4], const struct iovec *v, int count, size_t size)
{
	int i;

	for (i = 0; i < count && size; i++) {
		out[i] = v[i];
		if (out[i].iov_len > size)
			out[i].iov_len = size;
		size -= out[i].iov_len;
	}
	return i;
}

static ssize_t part_preadv2(int fd, const struct iovec *v, int count, off_t offset, int flags)
{
	struct iovec part[4];
	const int n = cut(part, v, count, in_memory);

	if (flags & RWF_NOWAIT && !in_memory) {
		errno = EAGAIN;
		return -1;
	}
	return flags & RWF_NOWAIT ? before.preadv2(fd, part, n, offset, 0)
				  : before.preadv2(fd, v, count, offset, flags);
}

static ssize_t part_pwritev2(int fd, const struct iovec *v, int count, off_t offset, int flags)
{
	struct iovec part[4];
	const int n = cut(part, v, count, in_memory);

	if (flags & RWF_NOWAIT && !in_memory) {
		errno = EAGAIN;
		return -1;
	}
	return flags & RWF_NOWAIT ? before.pwritev2(fd, part, n, offset, 0)
				  : before.pwritev2(fd, v, count, offset, flags);
}

static void test_rest_of_a_vector_is_moved_by_another_thread(void **state)
{
	char bytes[10], whole[16];
	struct pieces p = in_pieces(open_file(), bytes);

	(void)state;
	before = fpx_system;
	fpx_system.preadv2 = part_preadv2;
	fpx_system.pwritev2 = part_pwritev2;
	for (in_memory = 0; in_memory <= 10; in_memory++) {
		for (size_t i = 0; i < 2; i++) {
			memcpy(bytes, digits, sizeof digits);
			assert_int_equal(ftruncate(p.fd, 0), 0);
			p.offset = 2;
			assert_int_equal(inside(writes[i], &p), 10);
			assert_int_equal(pread(p.fd, whole, sizeof whole, 0), 12);
			assert_memory_equal(whole, "\0\0000123456789", 12);
			memset(bytes, 0, sizeof bytes);
			assert_int_equal(inside(reads[i], &p), 10);
			assert_memory_equal(bytes, "0123456789", 10);
			p.offset = 5;
			assert_int_equal(inside(reads[i], &p), 7);
			assert_memory_equal(bytes, "3456789", 7);
		}
	}
	fpx_system.preadv2 = before.preadv2;
	fpx_system.pwritev2 = before.pwritev2;
	close(p.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pread_and_pwrite_move_bytes_at_a_place_and_keep_the_offset),
		cmocka_unit_test(test_pread_of_a_pipe_is_espipe),
		cmocka_unit_test(test_sendfile_parks_until_the_socket_has_taken_all),
		cmocka_unit_test(test_sendfile_of_a_non_blocking_socket_does_not_park),
		cmocka_unit_test(test_pwrite_to_a_file_that_is_appended_to_writes_each_byte_once),
		cmocka_unit_test(test_vectors_are_moved_at_a_place),
		cmocka_unit_test(test_vectors_give_the_system_s_errors),
		cmocka_unit_test(test_vectors_with_flags_and_without_an_offset_park),
		cmocka_unit_test(test_vectors_with_flags_move_the_offset_of_a_file),
		cmocka_unit_test(test_rest_of_a_vector_is_moved_by_another_thread),
	};

	OUTCOME_MAIN(tests);
}
