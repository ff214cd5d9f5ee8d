/* SPDX-License-Identifier: MIT */
/*
 * test_plain.c - what is remembered of a pipe does not harm another file with its number
 *
 * After calls on a pipe, recv(2) and send(2) are not tried first for its number. The program then
 * closes it with close(2), of which libfiber does not learn, and the number becomes another file.
 */
#include "inside.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "io/table.h"
#include "os/calls.h"

#define SIZE 65536

static _Atomic unsigned tried_as_socket;

/* Both functions replace those of one file of the library, which is not linked in. */
ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	const ssize_t n = recv(fd, buf, size, flags);

	tried_as_socket += n < 0 && errno == ENOTSOCK;
	return n < 0 ? -errno : n;
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	const ssize_t n = send(fd, buf, size, flags);

	tried_as_socket += n < 0 && errno == ENOTSOCK;
	return n < 0 ? -errno : n;
}

struct move {
	int fd;
	char *bytes;
	size_t size;
	int64_t deadline;
};

static void *do_read(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_read(m->fd, m->bytes, m->size, m->deadline);
}

static void *do_read_pinned(void *arg)
{
	return as_pinned(do_read, arg);
}

static void *do_write(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_write(m->fd, m->bytes, m->size, m->deadline);
}

/* A descriptor that libfiber remembers as one end of a pipe. *ret_other: the other end. */
static int known(bool reads, int *ret_other)
{
	char byte = 'x';
	int fds[2];
	struct move m = {-1, &byte, 1, FIBER_FOREVER};
	struct fiber *reader;

	assert_int_equal(pipe(fds), 0);
	m.fd = fds[0];
	reader = inside_suspended(do_read, &m);
	assert_int_equal(write(fds[1], "a", 1), 1);
	assert_int_equal(inside_join(reader), 1);
	m.fd = fds[1];
	assert_int_equal(inside(do_write, &m), 1);
	assert_int_equal(inside(do_write, &m), 1);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	*ret_other = fds[reads];
	return fds[!reads];
}

/* Make the number of such a descriptor mean the file `fd`, behind libfiber's back. */
static int known_as(bool reads, int fd)
{
	int other;
	const int number = known(reads, &other);

	assert_int_equal(dup2(fd, number), number);
	close(other);
	close(fd);
	return number;
}

/* The first test: the table has no entry for the number yet. */
static void test_plain_file_on_a_disk_is_tried_as_a_socket_once(void **state)
{
	char name[] = "test_plain-XXXXXX", byte = 'b';
	struct move m = {mkstemp(name), &byte, 1, FIBER_FOREVER};
	const struct iovec v = {&byte, 1};
	ssize_t n;

	(void)state;
	assert_true(m.fd >= 0);
	assert_int_equal(unlink(name), 0);
	assert_null(fib_descriptor_find(m.fd));
	assert_int_equal(write(m.fd, "abc", 3), 3);
	assert_int_equal(lseek(m.fd, 0, SEEK_SET), 0);
	n = preadv2(m.fd, &v, 1, 0, RWF_NOWAIT);
	if (n < 0 && errno == EOPNOTSUPP) {
		print_message("# skipped: the file system knows no RWF_NOWAIT\n");
		skip();
	}
	tried_as_socket = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(inside(do_read, &m), 1);
	assert_int_equal(byte, 'c');
	assert_int_equal(tried_as_socket, 1);
	close(m.fd);
}

static void test_plain_number_that_is_a_blocking_socket_now_waits_and_reads(void **state)
{
	char bytes[8] = "";
	int pair[2];
	struct move m = {-1, bytes, sizeof bytes, FIBER_FOREVER};
	struct fiber *reader;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	m.fd = known_as(true, pair[0]);
	reader = inside_suspended(do_read, &m);
	assert_int_equal(write(pair[1], "hello", 5), 5);
	assert_int_equal(inside_join(reader), 5);
	assert_memory_equal(bytes, "hello", 5);
	m.deadline = fiber_after(MS);
	assert_int_equal(inside(do_read, &m), -ETIMEDOUT);
	assert_int_equal(on_a_thread(do_read, &m), -ETIMEDOUT);
	close(pair[1]);
	m.deadline = FIBER_FOREVER;
	assert_int_equal(inside(do_read, &m), 0);
	close(m.fd);
}

static void test_plain_number_that_is_a_socket_without_a_peer_is_epipe_and_no_signal(void **state)
{
	char bytes[8] = "hello";
	int pair[2];
	struct move m = {-1, bytes, 5, FIBER_FOREVER};

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	m.fd = known_as(false, pair[0]);
	assert_int_equal(inside(do_write, &m), 5);
	close(pair[1]);
	assert_int_equal(inside(do_write, &m), -EPIPE);
	assert_int_equal(on_a_thread(do_write, &m), -EPIPE);
	close(m.fd);
}

/* A file with SIZE bytes, of which the system has as few as possible in memory. */
static int cold_file(void)
{
	char name[] = "test_plain-XXXXXX", *page = calloc(1, SIZE);
	const int fd = mkstemp(name);

	assert_true(fd >= 0 && page);
	memset(page, 'f', SIZE);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(write(fd, page, SIZE), SIZE);
	free(page);
	fsync(fd);
	posix_fadvise(fd, 0, SIZE, POSIX_FADV_DONTNEED);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void test_plain_number_that_is_a_file_on_a_disk_now_is_read(void **state)
{
	fiber_fn *const reads[] = {do_read, do_read_pinned, do_read};
	struct move m = {-1, malloc(SIZE), SIZE, FIBER_FOREVER};
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		ssize_t n, done = 0;

		m.fd = known_as(true, cold_file());
		memset(m.bytes, 0, SIZE);
		while ((n = i < 2 ? inside(reads[i], &m) : on_a_thread(reads[i], &m)) > 0)
			done += n;
		assert_int_equal(n, 0);
		assert_int_equal(done, SIZE);
		assert_int_equal(m.bytes[0], 'f');
		close(m.fd);
	}
	free(m.bytes);
}

/* Terminals do not know RWF_NOWAIT. */
static void test_plain_number_that_is_a_terminal_now_waits_and_reads(void **state)
{
	char bytes[8] = "";
	const int master = posix_openpt(O_RDWR | O_NOCTTY);
	struct move m = {-1, bytes, sizeof bytes, FIBER_FOREVER};
	struct fiber *reader;
	int slave;

	(void)state;
	assert_true(master >= 0);
	assert_int_equal(grantpt(master), 0);
	assert_int_equal(unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	m.fd = known_as(true, slave);
	reader = inside_suspended(do_read, &m);
	assert_int_equal(write(master, "line\n", 5), 5);
	assert_int_equal(inside_join(reader), 5);
	m.deadline = fiber_after(MS);
	assert_int_equal(inside(do_read, &m), -ETIMEDOUT);
	close(m.fd);
	close(master);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_file_on_a_disk_is_tried_as_a_socket_once),
		cmocka_unit_test(test_plain_number_that_is_a_blocking_socket_now_waits_and_reads),
		cmocka_unit_test(
			test_plain_number_that_is_a_socket_without_a_peer_is_epipe_and_no_signal),
		cmocka_unit_test(test_plain_number_that_is_a_file_on_a_disk_now_is_read),
		cmocka_unit_test(test_plain_number_that_is_a_terminal_now_waits_and_reads),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
