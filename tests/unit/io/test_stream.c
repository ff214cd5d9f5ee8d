/* SPDX-License-Identifier: MIT */
/* test_stream.c - reads and writes: counts, ends, errors, and descriptor flags left unchanged */
#include "inside.h"

#include <stdio.h>

struct move {
	int fd;
	void *bytes;
	size_t size;
	int64_t deadline;
};

static void *do_read(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_read(m->fd, m->bytes, m->size, m->deadline);
}

static void *do_write(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_write(m->fd, m->bytes, m->size, m->deadline);
}

static void *do_close(void *arg)
{
	return (void *)(intptr_t)fiber_close(*(int *)arg);
}

struct watch {
	int fd;
	short events;
	int64_t deadline;
};

static void *do_wait(void *arg)
{
	struct watch *w = arg;

	return (void *)(intptr_t)fiber_wait_fd(w->fd, w->events, w->deadline);
}

static void test_stream_read_gives_what_is_there_and_0_at_the_end(void **state)
{
	char bytes[16];
	int fds[2];
	struct move m = {-1, bytes, sizeof bytes, FIBER_FOREVER};

	(void)state;
	assert_int_equal(pipe(fds), 0);
	m.fd = fds[0];
	assert_int_equal(write(fds[1], "hello", 5), 5);
	assert_int_equal(inside(do_read, &m), 5);
	assert_memory_equal(bytes, "hello", 5);
	close(fds[1]);
	assert_int_equal(inside(do_read, &m), 0);
	assert_int_equal(on_a_thread(do_read, &m), 0);
	assert_int_equal(inside(do_close, &fds[0]), 0);
}

static void test_stream_read_times_out_not_before_its_deadline(void **state)
{
	char bytes[16];
	int fds[2];
	struct move m = {-1, bytes, sizeof bytes, 0};

	(void)state;
	assert_int_equal(pipe(fds), 0);
	m.fd = fds[0];
	assert_int_equal(inside(do_read, &m), -ETIMEDOUT);
	assert_int_equal(on_a_thread(do_read, &m), -ETIMEDOUT);
	m.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_read, &m), -ETIMEDOUT);
	assert_true(fiber_now() >= m.deadline);
	m.deadline = fiber_after(2 * MS);
	assert_int_equal(on_a_thread(do_read, &m), -ETIMEDOUT);
	assert_true(fiber_now() >= m.deadline);
	/* Bytes that are there are read even past the deadline. */
	assert_int_equal(write(fds[1], "late", 4), 4);
	assert_int_equal(inside(do_read, &m), 4);
	fiber_close(fds[0]);
	close(fds[1]);
}

static void test_stream_write_to_nobody_is_epipe_and_no_signal(void **state)
{
	char bytes[4] = "abc";
	int fds[2], pair[2];
	struct move m = {-1, bytes, sizeof bytes, FIBER_FOREVER};

	(void)state;
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	m.fd = fds[1];
	assert_int_equal(inside(do_write, &m), -EPIPE);
	fiber_close(fds[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	close(pair[0]);
	m.fd = pair[1];
	assert_int_equal(inside(do_write, &m), -EPIPE);
	assert_int_equal(on_a_thread(do_write, &m), -EPIPE);
	fiber_close(pair[1]);
}

static void test_stream_errors_of_the_system_come_through(void **state)
{
	char bytes[4] = "abc";
	int fds[2], bad = -1;
	struct watch w = {-1, POLLIN, FIBER_FOREVER};
	struct move m = {-1, bytes, sizeof bytes, FIBER_FOREVER};

	(void)state;
	assert_int_equal(inside(do_read, &m), -EBADF);
	assert_int_equal(inside(do_write, &m), -EBADF);
	assert_int_equal(inside(do_wait, &w), -EBADF);
	assert_int_equal(on_a_thread(do_wait, &w), -EBADF);
	assert_int_equal(inside(do_close, &bad), -EBADF);
	bad = 4321;
	w.fd = m.fd = bad;
	assert_int_equal(inside(do_read, &m), -EBADF);
	assert_int_equal(inside(do_wait, &w), -EBADF);
	assert_int_equal(inside(do_close, &bad), -EBADF);
	assert_int_equal(pipe(fds), 0);
	m.fd = fds[1];
	assert_int_equal(inside(do_read, &m), -EBADF); /* the end for writing */
	m.fd = fds[0];
	assert_int_equal(inside(do_write, &m), -EBADF);
	close(fds[0]);
	close(fds[1]);
	m.fd = open("/", O_RDONLY | O_DIRECTORY);
	assert_int_equal(inside(do_read, &m), -EISDIR);
	close(m.fd);
}

static void test_stream_of_no_bytes_is_0(void **state)
{
	int fds[2];
	struct move m = {-1, NULL, 0, FIBER_FOREVER};

	(void)state;
	assert_int_equal(pipe(fds), 0);
	m.fd = fds[1];
	assert_int_equal(inside(do_write, &m), 0);
	m.fd = fds[0];
	assert_int_equal(inside(do_read, &m), 0);
	close(fds[0]);
	close(fds[1]);
}

static void test_stream_regular_file_is_written_and_read(void **state)
{
	char bytes[10000], back[10000];
	FILE *file = tmpfile();
	struct move m = {-1, bytes, sizeof bytes, FIBER_FOREVER};
	ssize_t n, at;

	(void)state;
	assert_non_null(file);
	memset(bytes, 'f', sizeof bytes);
	m.fd = fileno(file);
	for (at = 0; at < (ssize_t)sizeof bytes; at += n) {
		m.bytes = bytes + at;
		m.size = sizeof bytes - (size_t)at;
		n = inside(do_write, &m);
		assert_true(n > 0);
	}
	assert_int_equal(lseek(m.fd, 0, SEEK_SET), 0);
	for (at = 0; at < (ssize_t)sizeof back; at += n) {
		m.bytes = back + at;
		m.size = sizeof back - (size_t)at;
		n = inside(do_read, &m);
		assert_true(n > 0);
	}
	assert_memory_equal(bytes, back, sizeof back);
	assert_int_equal(inside(do_read, &m), 0);
	fclose(file);
}

static void *do_read_full(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_read_full(m->fd, m->bytes, m->size, m->deadline);
}

static void *do_write_full(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_write_full(m->fd, m->bytes, m->size, m->deadline);
}

static void test_stream_full_calls_move_all_of_it(void **state)
{
	static char sent[300000], got[300000];
	struct move in = {-1, got, sizeof got, FIBER_FOREVER};
	struct move out = {-1, sent, sizeof sent, FIBER_FOREVER};
	struct fiber *reader;
	FILE *file = tmpfile();
	int fds[2];

	(void)state;
	for (size_t i = 0; i < sizeof sent; i++)
		sent[i] = (char)(i * 7 + i / 256);
	assert_int_equal(pipe(fds), 0);
	in.fd = fds[0];
	out.fd = fds[1];
	reader = inside_spawn(do_read_full, &in);
	assert_int_equal(inside(do_write_full, &out), sizeof sent);
	assert_int_equal(inside_join(reader), sizeof got);
	assert_memory_equal(got, sent, sizeof got);
	in.size = out.size = 0;
	assert_int_equal(inside(do_read_full, &in), 0);
	assert_int_equal(inside(do_write_full, &out), 0);
	fiber_close(fds[0]);
	fiber_close(fds[1]);
	memset(got, 0, sizeof got);
	assert_non_null(file);
	in = (struct move){fileno(file), got, sizeof got, FIBER_FOREVER};
	out = (struct move){fileno(file), sent, sizeof sent, FIBER_FOREVER};
	assert_int_equal(inside(do_write_full, &out), sizeof sent);
	assert_int_equal(lseek(in.fd, 0, SEEK_SET), 0);
	assert_int_equal(inside(do_read_full, &in), sizeof got);
	assert_memory_equal(got, sent, sizeof got);
	fclose(file);
}

/* The count of moved bytes is returned first, whatever happened then; the next call returns the
 * error. */
static void test_stream_full_calls_tell_what_was_moved_first(void **state)
{
	static char much[4 << 20];
	char bytes[16];
	int fds[2];
	struct move m = {-1, bytes, sizeof bytes, 0}, out = {-1, much, sizeof much, 0};
	struct fiber *f;
	intptr_t n;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	m.fd = fds[0];
	assert_int_equal(write(fds[1], "abc", 3), 3);
	m.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_read_full, &m), 3);
	assert_int_equal(inside(do_read_full, &m), -ETIMEDOUT);
	assert_int_equal(write(fds[1], "de", 2), 2);
	m.deadline = FIBER_FOREVER;
	f = inside_suspended(do_read_full, &m);
	assert_int_equal(fiber_cancel(f), 0);
	assert_int_equal(inside_join_cancelled(f), 2);
	assert_int_equal(write(fds[1], "f", 1), 1);
	f = inside_suspended(do_read_full, &m);
	out.fd = fds[0];
	out.deadline = fiber_after(2 * MS);
	n = inside(do_write_full, &out);
	assert_true(n > 0 && n < (intptr_t)sizeof much);
	assert_int_equal(inside(do_write_full, &out), -ETIMEDOUT);
	close(fds[1]);
	assert_int_equal(inside(do_write_full, &out), -EPIPE);
	assert_int_equal(inside_join(f), 1);
	fiber_close(fds[0]);
}

static void test_stream_wait_fd_says_which_events(void **state)
{
	struct watch w = {-1, POLLIN | POLLOUT, FIBER_FOREVER};
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	w.fd = pair[0];
	assert_int_equal(inside(do_wait, &w), POLLOUT);
	assert_int_equal(write(pair[1], "x", 1), 1);
	assert_int_equal(inside(do_wait, &w), POLLIN | POLLOUT);
	w.events = POLLIN;
	assert_int_equal(inside(do_wait, &w), POLLIN);
	w.events = POLLPRI;
	w.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_wait, &w), -ETIMEDOUT);
	assert_int_equal(on_a_thread(do_wait, &w), -ETIMEDOUT);
	/* POLLHUP is reported although it was not requested, as in poll(2). */
	w.deadline = FIBER_FOREVER;
	close(pair[1]);
	assert_true(inside(do_wait, &w) & POLLHUP);
	fiber_close(pair[0]);
}

/* Such a file is always ready to read, and no other event comes. */
static void test_stream_wait_fd_for_an_event_that_a_file_never_has(void **state)
{
	struct watch w = {open("/dev/null", O_RDWR), POLLPRI, fiber_after(2 * MS)};
	struct fiber *f;

	(void)state;
	assert_int_equal(inside(do_wait, &w), -ETIMEDOUT);
	assert_int_equal(on_a_thread(do_wait, &w), -ETIMEDOUT);
	w.deadline = FIBER_FOREVER;
	f = inside_suspended(do_wait, &w);
	fiber_close(w.fd);
	assert_int_equal(inside_join(f), -EBADF);
}

static void test_stream_wait_fd_is_woken_by_each_event(void **state)
{
	struct watch w = {-1, POLLIN, FIBER_FOREVER};
	struct fiber *f;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	w.fd = fds[0];
	f = inside_suspended(do_wait, &w);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), POLLIN);
	assert_int_equal(read(fds[0], &(char){0}, 1), 1);
	f = inside_suspended(do_wait, &w);
	close(fds[1]);
	assert_true(inside_join(f) & POLLHUP);
	fiber_close(fds[0]);
}

static void test_stream_leaves_file_status_flags_as_they_were(void **state)
{
	static const int flags[] = {0, O_NONBLOCK};
	char bytes[4] = "abc";
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct move m = {-1, bytes, sizeof bytes, fiber_after(MS)};
		int pair[2], fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | flags[i], 0, pair), 0);
		assert_int_equal(pipe2(fds, flags[i]), 0);
		m.fd = pair[0];
		assert_int_equal(inside(do_read, &m), -ETIMEDOUT);
		assert_int_equal(inside(do_write, &m), sizeof bytes);
		assert_int_equal(fcntl(pair[0], F_GETFL) & O_NONBLOCK, flags[i]);
		m.deadline = fiber_after(MS);
		m.fd = fds[0];
		assert_int_equal(inside(do_read, &m), -ETIMEDOUT);
		m.fd = fds[1];
		assert_int_equal(inside(do_write, &m), sizeof bytes);
		assert_int_equal(fcntl(fds[0], F_GETFL) & O_NONBLOCK, flags[i]);
		assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, flags[i]);
		fiber_close(pair[0]);
		fiber_close(pair[1]);
		fiber_close(fds[0]);
		fiber_close(fds[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream_read_gives_what_is_there_and_0_at_the_end),
		cmocka_unit_test(test_stream_read_times_out_not_before_its_deadline),
		cmocka_unit_test(test_stream_write_to_nobody_is_epipe_and_no_signal),
		cmocka_unit_test(test_stream_errors_of_the_system_come_through),
		cmocka_unit_test(test_stream_of_no_bytes_is_0),
		cmocka_unit_test(test_stream_regular_file_is_written_and_read),
		cmocka_unit_test(test_stream_full_calls_move_all_of_it),
		cmocka_unit_test(test_stream_full_calls_tell_what_was_moved_first),
		cmocka_unit_test(test_stream_wait_fd_says_which_events),
		cmocka_unit_test(test_stream_wait_fd_for_an_event_that_a_file_never_has),
		cmocka_unit_test(test_stream_wait_fd_is_woken_by_each_event),
		cmocka_unit_test(test_stream_leaves_file_status_flags_as_they_were),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
