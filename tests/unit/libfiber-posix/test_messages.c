/* SPDX-License-Identifier: MIT */
/* test_messages.c - recvmmsg(2) and sendmmsg(2) in a fiber, as the kernel does them */
#include "outcome.h"

#include <netinet/in.h>
#include <signal.h>

#define COUNT 4
#define ROOM  64

/* A call for many messages. Each message has two pieces. */
struct many {
	int fd, flags, error;
	unsigned count;
	struct timespec *timeout;
	struct mmsghdr v[COUNT];
	struct iovec pieces[COUNT][2];
	char bytes[COUNT][ROOM];
};

/* size: of each message. */
static void lay_out(struct many *m, int fd, size_t size)
{
	memset(m, 0, sizeof *m);
	m->fd = fd;
	m->count = COUNT;
	for (size_t i = 0; i < COUNT; i++) {
		m->pieces[i][0] = (struct iovec){m->bytes[i], 1};
		m->pieces[i][1] = (struct iovec){m->bytes[i] + 1, size - 1};
		m->v[i].msg_hdr = (struct msghdr){.msg_iov = m->pieces[i], .msg_iovlen = 2};
	}
}

static void *do_recvmmsg(void *arg)
{
	struct many *m = arg;
	const int n = recvmmsg(m->fd, m->v, m->count, m->flags, m->timeout);

	m->error = errno;
	return (void *)(intptr_t)n;
}

static void *do_sendmmsg(void *arg)
{
	struct many *m = arg;
	const int n = sendmmsg(m->fd, m->v, m->count, m->flags);

	m->error = errno;
	return (void *)(intptr_t)n;
}

static void both_give_many(fiber_fn *fn, struct many *m, int n, int error)
{
	assert_int_equal(on_a_thread(fn, m), n);
	if (n < 0)
		assert_int_equal(m->error, error);
	assert_int_equal(inside(fn, m), n);
	if (n < 0)
		assert_int_equal(m->error, error);
}

static void open_pair(int type, int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, type, 0, fds), 0);
}

static void close_both(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static void send_one(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), 0), strlen(text));
}

static const int types[] = {SOCK_DGRAM, SOCK_SEQPACKET};

static void test_receive_parks_until_all_messages_have_come(void **state)
{
	static const char *const texts[COUNT] = {"one", "two", "three", "four"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct many m;
		struct fiber *f;
		int fds[2];

		open_pair(types[i], fds);
		lay_out(&m, fds[0], ROOM);
		send_one(fds[1], texts[0]);
		f = inside_suspended(do_recvmmsg, &m);
		for (int t = 1; t < COUNT; t++) {
			send_one(fds[1], texts[t]);
			/* It takes the message and waits again. */
			while (t < COUNT - 1 &&
			       recv(fds[0], &(char){0}, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
				sched_yield();
		}
		assert_int_equal(inside_join(f), COUNT);
		for (int t = 0; t < COUNT; t++) {
			assert_int_equal(m.v[t].msg_len, strlen(texts[t]));
			assert_string_equal(m.bytes[t], texts[t]);
		}
		close_both(fds);
	}
}

static void test_waitforone_takes_what_is_there_after_the_first(void **state)
{
	int fds[2];
	struct many m;
	struct fiber *f;

	(void)state;
	open_pair(SOCK_DGRAM, fds);
	lay_out(&m, fds[0], ROOM);
	m.flags = MSG_WAITFORONE;
	f = inside_suspended(do_recvmmsg, &m);
	send_one(fds[1], "one");
	assert_int_equal(inside_join(f), 1);
	for (int way = 0; way < 2; way++) {
		send_one(fds[1], "one");
		send_one(fds[1], "two");
		assert_int_equal(way ? inside(do_recvmmsg, &m) : on_a_thread(do_recvmmsg, &m), 2);
		assert_int_equal(m.v[1].msg_len, 3);
	}
	close_both(fds);
}

static void test_calls_that_do_not_wait_give_eagain_or_what_is_there(void **state)
{
	int fds[2];
	struct many m;

	(void)state;
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		open_pair(SOCK_DGRAM, fds);
		lay_out(&m, fds[0], ROOM);
		m.flags = nonblocking ? 0 : MSG_DONTWAIT;
		if (nonblocking)
			set_nonblocking(fds[0]);
		both_give_many(do_recvmmsg, &m, -1, EAGAIN);
		send_one(fds[1], "one");
		assert_int_equal(on_a_thread(do_recvmmsg, &m), 1);
		send_one(fds[1], "one");
		assert_int_equal(inside(do_recvmmsg, &m), 1);
		fill(fds[1]);
		if (nonblocking)
			set_nonblocking(fds[1]);
		m.fd = fds[1];
		both_give_many(do_sendmmsg, &m, -1, EAGAIN);
		close_both(fds);
	}
}

static void test_time_out_of_the_socket_counts_for_each_message(void **state)
{
	int fds[2];
	struct many m;

	(void)state;
	open_pair(SOCK_DGRAM, fds);
	set_timeout(fds[0], SO_RCVTIMEO, 10);
	set_timeout(fds[1], SO_SNDTIMEO, 10);
	lay_out(&m, fds[0], ROOM);
	both_give_many(do_recvmmsg, &m, -1, EAGAIN);
	for (int way = 0; way < 2; way++) {
		send_one(fds[1], "one");
		send_one(fds[1], "two");
		assert_int_equal(way ? inside(do_recvmmsg, &m) : on_a_thread(do_recvmmsg, &m), 2);
	}
	fill(fds[1]);
	m.fd = fds[1];
	both_give_many(do_sendmmsg, &m, -1, EAGAIN);
	close_both(fds);
}

/* The kernel looks at the time after each message, and only then. */
static void test_time_out_of_the_call_is_looked_at_after_each_message(void **state)
{
	struct timespec t;
	int fds[2];
	struct many m;

	(void)state;
	open_pair(SOCK_DGRAM, fds);
	lay_out(&m, fds[0], ROOM);
	m.timeout = &t;
	for (int way = 0; way < 2; way++) {
		fiber_fn *const fn = do_recvmmsg;

		t = (struct timespec){0, -1};
		both_give_many(fn, &m, -1, EINVAL);
		send_one(fds[1], "one");
		send_one(fds[1], "two");
		t = (struct timespec){0, 0};
		assert_int_equal(way ? inside(fn, &m) : on_a_thread(fn, &m), 1);
		assert_int_equal(t.tv_sec + t.tv_nsec, 0);
		t = (struct timespec){1000, 0};
		m.count = 1;
		assert_int_equal(way ? inside(fn, &m) : on_a_thread(fn, &m), 1);
		assert_in_range(t.tv_sec, 1, 999);
		m.count = COUNT;
	}
	/* The time passes while it waits for the first message, which it takes. */
	for (int way = 0; way < 2; way++) {
		struct fiber *f;

		t = (struct timespec){0, 1000000};
		f = inside_suspended(do_recvmmsg, &m);
		fiber_sleep(5 * MS);
		send_one(fds[1], "one");
		assert_int_equal(inside_join(f), 1);
		assert_int_equal(t.tv_sec + t.tv_nsec, 0);
	}
	/* Without a message it is not written. */
	set_nonblocking(fds[0]);
	t = (struct timespec){5, 5};
	both_give_many(do_recvmmsg, &m, -1, EAGAIN);
	assert_int_equal(t.tv_sec, 5);
	assert_int_equal(t.tv_nsec, 5);
	close_both(fds);
}

static void open_udp(int fds[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof at;

	for (int i = 0; i < 2; i++) {
		fds[i] = socket(AF_INET, SOCK_DGRAM, 0);
		at.sin_port = 0;
		assert_int_equal(bind(fds[i], (struct sockaddr *)&at, size), 0);
		assert_int_equal(getsockname(fds[i], (struct sockaddr *)&at, &size), 0);
		if (i)
			assert_int_equal(connect(fds[0], (struct sockaddr *)&at, size), 0);
	}
	assert_int_equal(getsockname(fds[0], (struct sockaddr *)&at, &size), 0);
	assert_int_equal(connect(fds[1], (struct sockaddr *)&at, size), 0);
}

/* The peer's port is closed, so that a message to it comes back as an error. */
static void test_error_after_a_message_is_kept_for_the_next_call(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		struct many m;
		int fds[2];

		open_udp(fds);
		lay_out(&m, fds[0], ROOM);
		send_one(fds[1], "one");
		/* The call is waiting for the second message when the error comes. */
		if (way) {
			struct fiber *f = inside_suspended(do_recvmmsg, &m);

			close(fds[1]);
			send_one(fds[0], "x");
			assert_int_equal(inside_join(f), 1);
		} else {
			m.count = 1;
			assert_int_equal(on_a_thread(do_recvmmsg, &m), 1);
			m.count = COUNT;
			close(fds[1]);
			send_one(fds[0], "x");
		}
		assert_int_equal(inside(do_recvmmsg, &m), -1);
		assert_int_equal(m.error, ECONNREFUSED);
		close(fds[0]);
	}
}

static void test_stream_is_received_in_pieces_or_whole_with_waitall(void **state)
{
	int fds[2];
	struct many m;
	struct fiber *f;

	(void)state;
	open_pair(SOCK_STREAM, fds);
	for (int ready = 0; ready < 2; ready++) {
		lay_out(&m, fds[0], 4);
		m.flags = MSG_WAITALL;
		m.count = 2;
		if (ready)
			send_one(fds[1], "abcdef");
		f = inside_suspended(do_recvmmsg, &m);
		if (!ready)
			send_one(fds[1], "abcdef");
		while (recv(fds[0], &(char){0}, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
			sched_yield();
		send_one(fds[1], "gh");
		assert_int_equal(inside_join(f), 2);
		assert_int_equal(m.v[0].msg_len, 4);
		assert_int_equal(m.v[1].msg_len, 4);
		assert_memory_equal(m.bytes[0], "abcd", 4);
		assert_memory_equal(m.bytes[1], "efgh", 4);
	}
	/* The end of the stream fills the rest of the call with nothing. */
	m.flags = 0;
	m.count = COUNT;
	send_one(fds[1], "abc");
	close(fds[1]);
	assert_int_equal(inside(do_recvmmsg, &m), COUNT);
	assert_int_equal(m.v[0].msg_len, 3);
	assert_int_equal(m.v[1].msg_len, 0);
	close(fds[0]);
}

static void *cancelled_recvmmsg(void *arg)
{
	return as_cancelled(do_recvmmsg, arg);
}

static void test_cancelled_fiber_returns_the_messages_that_it_has(void **state)
{
	int fds[2];
	struct many m;
	struct fiber *f;

	(void)state;
	open_pair(SOCK_DGRAM, fds);
	lay_out(&m, fds[0], ROOM);
	assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_recvmmsg, &m)), -1);
	assert_int_equal(m.error, ECANCELED);
	send_one(fds[1], "one");
	assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_recvmmsg, &m)), 1);
	send_one(fds[1], "one");
	f = inside_suspended(do_recvmmsg, &m);
	fiber_cancel(f);
	assert_int_equal(inside_join_cancelled(f), 1);
	close_both(fds);
}

static void test_send_parks_until_all_messages_are_sent(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		static char bytes[65536];
		struct many m;
		struct fiber *f;
		int fds[2], seen = 0;
		ssize_t n;

		open_pair(types[i], fds);
		lay_out(&m, fds[1], 5);
		for (int t = 0; t < COUNT; t++)
			memcpy(m.bytes[t], "text", 5);
		fill(fds[1]);
		f = inside_suspended(do_sendmmsg, &m);
		while (seen < COUNT) {
			n = recv(fds[0], bytes, sizeof bytes, 0);
			assert_true(n > 0);
			if (n == 5) {
				assert_string_equal(bytes, "text");
				seen++;
			}
		}
		assert_int_equal(inside_join(f), COUNT);
		for (int t = 0; t < COUNT; t++)
			assert_int_equal(m.v[t].msg_len, 5);
		close_both(fds);
	}
}

/* Four messages of a stream, each of which fills the socket more than once. */
static void test_send_moves_all_bytes_of_a_stream(void **state)
{
	enum { SIZE = 1 << 20 };
	static char bytes[COUNT * SIZE], got[COUNT * SIZE];
	int fds[2];
	struct many m;
	struct fiber *f;

	(void)state;
	open_pair(SOCK_STREAM, fds);
	lay_out(&m, fds[1], 2);
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7 + i / 256);
	for (int i = 0; i < COUNT; i++) {
		m.pieces[i][0] = (struct iovec){bytes + i * SIZE, SIZE / 4};
		m.pieces[i][1] = (struct iovec){bytes + i * SIZE + SIZE / 4, SIZE - SIZE / 4};
	}
	f = inside_suspended(do_sendmmsg, &m);
	assert_int_equal(recv(fds[0], got, sizeof got, MSG_WAITALL), sizeof got);
	assert_int_equal(inside_join(f), COUNT);
	assert_memory_equal(got, bytes, sizeof got);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(m.v[i].msg_len, SIZE);
	/* A part that is sent when the time is over ends the call. */
	set_timeout(fds[1], SO_SNDTIMEO, 10);
	for (int way = 0; way < 2; way++) {
		assert_int_equal(way ? inside(do_sendmmsg, &m) : on_a_thread(do_sendmmsg, &m), 1);
		assert_in_range(m.v[0].msg_len, 1, SIZE - 1);
		while (recv(fds[0], got, sizeof got, MSG_DONTWAIT) > 0)
			;
	}
	close_both(fds);
}

static volatile sig_atomic_t pipes;

static void count_pipe(int number)
{
	(void)number;
	pipes++;
}

static void test_send_to_a_closed_peer_is_epipe_and_sends_sigpipe(void **state)
{
	const struct sigaction count = {.sa_handler = count_pipe};
	struct sigaction before;
	int fds[2];
	struct many m;

	(void)state;
	assert_int_equal(sigaction(SIGPIPE, &count, &before), 0);
	open_pair(SOCK_STREAM, fds);
	close(fds[0]);
	lay_out(&m, fds[1], ROOM);
	m.flags = MSG_NOSIGNAL;
	pipes = 0;
	both_give_many(do_sendmmsg, &m, -1, EPIPE);
	assert_int_equal(pipes, 0);
	m.flags = 0;
	assert_int_equal(inside(do_sendmmsg, &m), -1);
	assert_int_equal(m.error, EPIPE);
	while (!pipes)
		sched_yield();
	assert_int_equal(pipes, 1);
	close(fds[1]);
	assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
}

static void test_refused_calls_give_the_system_s_errors(void **state)
{
	int fds[2];
	struct many m;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	lay_out(&m, fds[0], ROOM);
	both_give_many(do_recvmmsg, &m, -1, ENOTSOCK);
	both_give_many(do_sendmmsg, &m, -1, ENOTSOCK);
	close_both(fds);
	both_give_many(do_recvmmsg, &m, -1, EBADF);
	both_give_many(do_sendmmsg, &m, -1, EBADF);
	open_pair(SOCK_DGRAM, fds);
	m.count = 0;
	both_give_many(do_recvmmsg, &m, 0, 0);
	both_give_many(do_sendmmsg, &m, 0, 0);
	/* The second message is too long for a datagram. */
	close_both(fds);
	open_udp(fds);
	lay_out(&m, fds[1], ROOM);
	m.pieces[1][1].iov_len = 70000;
	m.pieces[1][1].iov_base = calloc(1, 70000);
	both_give_many(do_sendmmsg, &m, 1, 0);
	free(m.pieces[1][1].iov_base);
	close_both(fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_receive_parks_until_all_messages_have_come),
		cmocka_unit_test(test_waitforone_takes_what_is_there_after_the_first),
		cmocka_unit_test(test_calls_that_do_not_wait_give_eagain_or_what_is_there),
		cmocka_unit_test(test_time_out_of_the_socket_counts_for_each_message),
		cmocka_unit_test(test_time_out_of_the_call_is_looked_at_after_each_message),
		cmocka_unit_test(test_error_after_a_message_is_kept_for_the_next_call),
		cmocka_unit_test(test_stream_is_received_in_pieces_or_whole_with_waitall),
		cmocka_unit_test(test_cancelled_fiber_returns_the_messages_that_it_has),
		cmocka_unit_test(test_send_parks_until_all_messages_are_sent),
		cmocka_unit_test(test_send_moves_all_bytes_of_a_stream),
		cmocka_unit_test(test_send_to_a_closed_peer_is_epipe_and_sends_sigpipe),
		cmocka_unit_test(test_refused_calls_give_the_system_s_errors),
	};

	OUTCOME_MAIN(tests);
}
