/* SPDX-License-Identifier: MIT */
/* test_splice.c - splice(2) in a fiber parks for the side that would block */
#include "outcome.h"

#include <netinet/in.h>
#include <signal.h>

/* A call of splice(2). */
struct splicing {
	int in, out, error;
	off64_t *in_offset, *out_offset;
	size_t size;
	unsigned flags;
};

static void *do_splice(void *arg)
{
	struct splicing *s = arg;
	const ssize_t n = splice(s->in, s->in_offset, s->out, s->out_offset, s->size, s->flags);

	s->error = errno;
	return (void *)n;
}

static void both_splice(struct splicing *s, intptr_t n, int error)
{
	assert_int_equal(on_a_thread(do_splice, s), n);
	if (n < 0)
		assert_int_equal(s->error, error);
	assert_int_equal(inside(do_splice, s), n);
	if (n < 0)
		assert_int_equal(s->error, error);
}

static void open_tcp(int fds[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof at;

	assert_int_equal(bind(listener, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fds[1], (struct sockaddr *)&at, size), 0);
	fds[0] = accept(listener, NULL, NULL);
	assert_true(fds[0] >= 0);
	close(listener);
}

enum { PIPE, UNIX, TCP, KINDS };

/* fds[0] is read, fds[1] is written. */
static void open_kind(int kind, int fds[2])
{
	if (kind == TCP)
		open_tcp(fds);
	else
		assert_int_equal(
			kind == PIPE ? pipe(fds) : socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static void close_both(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static int open_file(void)
{
	char path[HARNESS_PATH];
	const int fd = open(harness_file(path, "file"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static void test_splice_parks_until_input_comes(void **state)
{
	(void)state;
	for (int kind = 0; kind < KINDS; kind++) {
		int from[2], to[2];
		struct splicing s = {.size = 100};
		struct fiber *f;
		char bytes[8];

		open_kind(kind, from);
		assert_int_equal(pipe(to), 0);
		s.in = from[0];
		s.out = to[1];
		f = inside_suspended(do_splice, &s);
		assert_int_equal(write(from[1], "hello", 5), 5);
		assert_int_equal(inside_join(f), 5);
		assert_int_equal(read(to[0], bytes, sizeof bytes), 5);
		assert_memory_equal(bytes, "hello", 5);
		close(from[1]);
		both_splice(&s, 0, 0);
		close(from[0]);
		close_both(to);
	}
}

static void drain(int fd)
{
	static char bytes[65536];
	const int flags = fcntl(fd, F_GETFL);

	assert_int_equal(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
	while (read(fd, bytes, sizeof bytes) > 0)
		;
	assert_int_equal(fcntl(fd, F_SETFL, flags), 0);
}

static void test_splice_parks_until_the_output_has_room(void **state)
{
	(void)state;
	for (int kind = 0; kind < KINDS; kind++) {
		int from[2], to[2];
		struct splicing s = {.size = 5};
		struct fiber *f;

		assert_int_equal(pipe(from), 0);
		open_kind(kind, to);
		assert_int_equal(write(from[1], "hello", 5), 5);
		fill(to[1]);
		s.in = from[0];
		s.out = to[1];
		f = inside_suspended(do_splice, &s);
		/* What a TCP socket holds is also in the kernel's queues. */
		while (fiber_state(f) == FIBER_SUSPENDED) {
			drain(to[0]);
			sched_yield();
		}
		assert_int_equal(inside_join(f), 5);
		close_both(from);
		close_both(to);
	}
}

/* A pipe of a megabyte, and a reader that comes late: no carrier waits for the socket meanwhile. */
static void test_splice_to_a_socket_moves_all_that_is_in_the_pipe(void **state)
{
	enum { SIZE = 1 << 20 };
	static char bytes[SIZE], got[SIZE];

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 7 + i / 256);
	for (int kind = UNIX; kind < KINDS; kind++) {
		int from[2], to[2], small = 16384;
		struct splicing s = {.size = 2 * SIZE};
		struct fiber *f;

		assert_int_equal(pipe(from), 0);
		if (fcntl(from[0], F_SETPIPE_SZ, SIZE) < SIZE)
			skip();
		open_kind(kind, to);
		assert_int_equal(setsockopt(to[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
		assert_int_equal(setsockopt(to[0], SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
		assert_int_equal(write(from[1], bytes, SIZE), SIZE);
		s.in = from[0];
		s.out = to[1];
		f = inside_suspended(do_splice, &s);
		assert_int_equal(recv(to[0], got, SIZE, MSG_WAITALL), SIZE);
		assert_int_equal(inside_join(f), SIZE);
		assert_memory_equal(got, bytes, SIZE);
		close_both(from);
		close_both(to);
	}
}

static void test_files_are_spliced_at_their_offset_or_the_one_given(void **state)
{
	char bytes[16];
	off64_t at = 2;
	int fds[2];
	struct splicing s = {.in = open_file(), .size = 3};

	(void)state;
	assert_int_equal(write(s.in, "0123456789", 10), 10);
	assert_int_equal(lseek(s.in, 0, SEEK_SET), 0);
	assert_int_equal(pipe(fds), 0);
	s.out = fds[1];
	both_splice(&s, 3, 0);
	s.in_offset = &at;
	both_splice(&s, 3, 0);
	assert_int_equal(at, 8);
	assert_int_equal(read(fds[0], bytes, sizeof bytes), 12);
	assert_memory_equal(bytes, "012345234567", 12);
	/* And back: to the start, and at a place. */
	s.out = s.in;
	s.in = fds[0];
	s.in_offset = NULL;
	s.size = 2;
	assert_int_equal(lseek(s.out, 0, SEEK_SET), 0);
	assert_int_equal(write(fds[1], "abcdefgh", 8), 8);
	both_splice(&s, 2, 0);
	at = 6;
	s.out_offset = &at;
	both_splice(&s, 2, 0);
	assert_int_equal(at, 10);
	assert_int_equal(pread(s.out, bytes, sizeof bytes, 0), 10);
	assert_memory_equal(bytes, "abcd45efgh", 10);
	close(s.out);
	close_both(fds);
}

static void test_file_is_spliced_when_the_pipe_has_room_and_bytes(void **state)
{
	int fds[2];
	struct splicing s = {.in = open_file(), .size = 100};
	struct fiber *f;

	(void)state;
	assert_int_equal(write(s.in, "hello", 5), 5);
	assert_int_equal(lseek(s.in, 0, SEEK_SET), 0);
	assert_int_equal(pipe(fds), 0);
	fill(fds[1]);
	s.out = fds[1];
	f = inside_suspended(do_splice, &s);
	drain(fds[0]);
	assert_int_equal(inside_join(f), 5);
	drain(fds[0]);
	s.out = s.in;
	s.in = fds[0];
	f = inside_suspended(do_splice, &s);
	assert_int_equal(write(fds[1], "world!", 6), 6);
	assert_int_equal(inside_join(f), 6);
	assert_int_equal(lseek(s.out, 0, SEEK_CUR), 11);
	close(s.out);
	close_both(fds);
}

static void test_calls_that_do_not_wait_give_eagain(void **state)
{
	(void)state;
	for (int way = 0; way < 3; way++) {
		int from[2], to[2];
		struct splicing s = {.size = 100};

		assert_int_equal(pipe(from), 0);
		assert_int_equal(pipe(to), 0);
		s.in = from[0];
		s.out = to[1];
		if (way == 0)
			s.flags = SPLICE_F_NONBLOCK;
		else
			set_nonblocking(way == 1 ? from[0] : to[1]);
		both_splice(&s, -1, EAGAIN);
		assert_int_equal(write(from[1], "x", 1), 1);
		fill(to[1]);
		both_splice(&s, -1, EAGAIN);
		close_both(from);
		close_both(to);
	}
	for (int kind = UNIX; kind < KINDS; kind++) {
		int from[2], to[2];
		struct splicing s = {.size = 100};

		open_kind(kind, from);
		assert_int_equal(pipe(to), 0);
		s.in = from[0];
		s.out = to[1];
		set_nonblocking(from[0]);
		both_splice(&s, -1, EAGAIN);
		set_nonblocking(from[1]);
		fill(from[1]);
		set_nonblocking(from[1]);
		s.in = to[0];
		s.out = from[1];
		assert_int_equal(write(to[1], "x", 1), 1);
		both_splice(&s, -1, EAGAIN);
		close_both(from);
		close_both(to);
	}
}

static void test_time_outs_of_a_socket_give_eagain(void **state)
{
	(void)state;
	for (int kind = UNIX; kind < KINDS; kind++) {
		int from[2], to[2];
		struct splicing s = {.size = 100};

		open_kind(kind, from);
		assert_int_equal(pipe(to), 0);
		set_timeout(from[0], SO_RCVTIMEO, 10);
		set_timeout(from[1], SO_SNDTIMEO, 10);
		s.in = from[0];
		s.out = to[1];
		both_splice(&s, -1, EAGAIN);
		fill(from[1]);
		s.in = to[0];
		s.out = from[1];
		assert_int_equal(write(to[1], "x", 1), 1);
		/* TCP may have room again: what it has sent is in the peer's queue now. */
		if (kind == UNIX)
			both_splice(&s, -1, EAGAIN);
		close_both(from);
		close_both(to);
	}
}

static void test_refused_calls_give_the_system_s_errors(void **state)
{
	off64_t at = 0;
	int fds[2], pair[2];
	struct splicing s = {.size = 10};

	(void)state;
	assert_int_equal(pipe(fds), 0);
	open_kind(UNIX, pair);
	s.in = s.out = open_file();
	both_splice(&s, -1, EINVAL);
	s.size = 0;
	both_splice(&s, 0, 0);
	s.size = 10;
	close(s.out);
	both_splice(&s, -1, EBADF);
	s.in = fds[0];
	both_splice(&s, -1, EBADF);
	s.out = fds[1];
	both_splice(&s, -1, EINVAL);
	/* The wrong sides of the pipe. */
	s.in = fds[1];
	s.out = pair[1];
	both_splice(&s, -1, EBADF);
	s.in = pair[0];
	s.out = fds[0];
	both_splice(&s, -1, EBADF);
	s.out = fds[1];
	s.out_offset = &at;
	both_splice(&s, -1, ESPIPE);
	s.out_offset = NULL;
	s.in_offset = &at;
	both_splice(&s, -1, EINVAL);
	s.in_offset = NULL;
	s.flags = 0x1000;
	both_splice(&s, -1, EINVAL);
	close_both(fds);
	close_both(pair);
}

static volatile sig_atomic_t pipes;

static void count_pipe(int number)
{
	(void)number;
	pipes++;
}

static void test_output_without_a_reader_is_epipe_and_sends_sigpipe_once(void **state)
{
	const struct sigaction count = {.sa_handler = count_pipe};
	struct sigaction before;

	(void)state;
	assert_int_equal(sigaction(SIGPIPE, &count, &before), 0);
	for (int kind = PIPE; kind < TCP; kind++) {
		const int most = kind == PIPE ? 1 : 0;
		int from[2], to[2];
		struct splicing s = {.size = 5};

		for (int of_file = 0; of_file <= most; of_file++) {
			assert_int_equal(pipe(from), 0);
			open_kind(kind, to);
			close(to[0]);
			assert_int_equal(write(from[1], "hello", 5), 5);
			s.in = of_file ? open_file() : from[0];
			if (of_file) {
				assert_int_equal(write(s.in, "hello", 5), 5);
				assert_int_equal(lseek(s.in, 0, SEEK_SET), 0);
			}
			s.out = to[1];
			pipes = 0;
			assert_int_equal(inside(do_splice, &s), -1);
			assert_int_equal(s.error, EPIPE);
			while (!pipes)
				sched_yield();
			assert_int_equal(pipes, 1);
			if (of_file)
				close(s.in);
			close_both(from);
			close(to[1]);
		}
	}
	assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
}

static void *cancelled_splice(void *arg)
{
	return as_cancelled(do_splice, arg);
}

static void test_cancelled_fiber_gets_ecanceled_only_where_it_would_park(void **state)
{
	int from[2], to[2];
	struct splicing s = {.size = 5};
	struct fiber *f;

	(void)state;
	assert_int_equal(pipe(from), 0);
	assert_int_equal(pipe(to), 0);
	s.in = from[0];
	s.out = to[1];
	assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_splice, &s)), -1);
	assert_int_equal(s.error, ECANCELED);
	f = inside_suspended(do_splice, &s);
	fiber_cancel(f);
	assert_int_equal(inside_join_cancelled(f), -1);
	assert_int_equal(s.error, ECANCELED);
	assert_int_equal(write(from[1], "hello", 5), 5);
	assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_splice, &s)), 5);
	close_both(from);
	close_both(to);
}

static void test_close_wakes_the_fiber_that_splices(void **state)
{
	(void)state;
	for (int kind = 0; kind < KINDS; kind++) {
		int from[2], to[2];
		struct splicing s = {.size = 5};
		struct fiber *f;

		open_kind(kind, from);
		assert_int_equal(pipe(to), 0);
		s.in = from[0];
		s.out = to[1];
		f = inside_suspended(do_splice, &s);
		close(from[0]);
		assert_int_equal(inside_join(f), -1);
		assert_int_equal(s.error, EBADF);
		close(from[1]);
		close_both(to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_splice_parks_until_input_comes),
		cmocka_unit_test(test_splice_parks_until_the_output_has_room),
		cmocka_unit_test(test_splice_to_a_socket_moves_all_that_is_in_the_pipe),
		cmocka_unit_test(test_files_are_spliced_at_their_offset_or_the_one_given),
		cmocka_unit_test(test_file_is_spliced_when_the_pipe_has_room_and_bytes),
		cmocka_unit_test(test_calls_that_do_not_wait_give_eagain),
		cmocka_unit_test(test_time_outs_of_a_socket_give_eagain),
		cmocka_unit_test(test_refused_calls_give_the_system_s_errors),
		cmocka_unit_test(test_output_without_a_reader_is_epipe_and_sends_sigpipe_once),
		cmocka_unit_test(test_cancelled_fiber_gets_ecanceled_only_where_it_would_park),
		cmocka_unit_test(test_close_wakes_the_fiber_that_splices),
	};

	OUTCOME_MAIN(tests);
}
