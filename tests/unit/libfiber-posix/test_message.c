/* SPDX-License-Identifier: MIT */
/* test_message.c - recv(2), send(2) and their variants in a fiber, as POSIX says */
#include "outcome.h"

#include <signal.h>

static void *do_recv(void *arg)
{
	struct call *c = arg;

	return outcome(c, recv(c->fd, c->buf, c->size, c->flags));
}

static void *do_recvfrom(void *arg)
{
	struct call *c = arg;
	struct sockaddr_storage addr;
	socklen_t size = sizeof addr;

	return outcome(c,
		       recvfrom(c->fd, c->buf, c->size, c->flags, (struct sockaddr *)&addr, &size));
}

static void *do_recvmsg(void *arg)
{
	struct call *c = arg;
	struct iovec v = {c->buf, c->size};
	struct msghdr msg = {.msg_iov = &v, .msg_iovlen = 1};

	return outcome(c, recvmsg(c->fd, &msg, c->flags));
}

static void *do_send(void *arg)
{
	struct call *c = arg;

	return outcome(c, send(c->fd, c->buf, c->size, c->flags));
}

static void *do_sendto(void *arg)
{
	struct call *c = arg;

	return outcome(c, sendto(c->fd, c->buf, c->size, c->flags, NULL, 0));
}

static void *do_sendmsg(void *arg)
{
	struct call *c = arg;
	struct iovec v[2] = {{c->buf, c->size / 2},
			     {(char *)c->buf + c->size / 2, c->size - c->size / 2}};
	const struct msghdr msg = {.msg_iov = v, .msg_iovlen = 2};

	return outcome(c, sendmsg(c->fd, &msg, c->flags));
}

static fiber_fn *const receives[] = {do_recv, do_recvfrom, do_recvmsg};
static fiber_fn *const sends[] = {do_send, do_sendto, do_sendmsg};

static void open_pair(int type, int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, type, 0, fds), 0);
}

static void close_both(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static void test_receive_parks_until_a_message_comes(void **state)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		char bytes[8] = {0};
		struct call c = {.buf = bytes, .size = sizeof bytes};
		struct fiber *f;
		int fds[2];

		open_pair(types[i / 3], fds);
		c.fd = fds[0];
		f = inside_suspended(receives[i % 3], &c);
		assert_int_equal(send(fds[1], "abc", 3, 0), 3);
		assert_int_equal(inside_join(f), 3);
		assert_string_equal(bytes, "abc");
		close_both(fds);
	}
}

static void test_dontwait_and_non_blocking_sockets_give_eagain(void **state)
{
	char bytes[8];
	int fds[2];
	struct call c = {.buf = bytes, .size = sizeof bytes};

	(void)state;
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		open_pair(SOCK_STREAM, fds);
		fill(fds[1]);
		while (recv(fds[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
			;
		fill(fds[1]);
		if (nonblocking) {
			set_nonblocking(fds[0]);
			set_nonblocking(fds[1]);
		}
		c.flags = nonblocking ? 0 : MSG_DONTWAIT;
		c.fd = fds[1];
		for (size_t i = 0; i < 3; i++)
			both_give(sends[i], &c, -1, EAGAIN);
		while (recv(fds[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
			;
		c.fd = fds[0];
		for (size_t i = 0; i < 3; i++)
			both_give(receives[i], &c, -1, EAGAIN);
		if (nonblocking) {
			c.flags = MSG_WAITALL;
			both_give(do_recv, &c, -1, EAGAIN);
		}
		close_both(fds);
	}
}

static void test_time_out_of_a_receive_and_a_send_is_eagain(void **state)
{
	char bytes[8];
	int fds[2];
	struct call c = {.buf = bytes, .size = sizeof bytes};

	(void)state;
	open_pair(SOCK_STREAM, fds);
	set_timeout(fds[0], SO_RCVTIMEO, 10);
	set_timeout(fds[1], SO_SNDTIMEO, 10);
	c.fd = fds[0];
	for (size_t i = 0; i < 3; i++)
		both_give(receives[i], &c, -1, EAGAIN);
	fill(fds[1]);
	c.fd = fds[1];
	for (size_t i = 0; i < 3; i++)
		both_give(sends[i], &c, -1, EAGAIN);
	close_both(fds);
}

static void test_waitall_parks_until_all_bytes_are_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char bytes[6] = {0};
		int fds[2];
		struct call c = {.buf = bytes, .size = 5, .flags = MSG_WAITALL};
		struct fiber *f;

		open_pair(SOCK_STREAM, fds);
		c.fd = fds[0];
		f = inside_suspended(receives[i], &c);
		assert_int_equal(send(fds[1], "he", 2, 0), 2);
		/* It takes the first bytes and waits again. */
		while (recv(fds[0], &(char){0}, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
			sched_yield();
		harness_await_suspended(f);
		assert_int_equal(send(fds[1], "llo", 3, 0), 3);
		assert_int_equal(inside_join(f), 5);
		assert_string_equal(bytes, "hello");
		/* The end of the stream and a time-out leave less. */
		assert_int_equal(send(fds[1], "ab", 2, 0), 2);
		set_timeout(fds[0], SO_RCVTIMEO, 10);
		assert_int_equal(inside(receives[i], &c), 2);
		close(fds[1]);
		assert_int_equal(inside(receives[i], &c), 0);
		close(fds[0]);
	}
}

static void test_blocking_send_moves_all_bytes(void **state)
{
	static char bytes[1 << 20], got[1 << 20];

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7 + i / 256);
	for (size_t i = 0; i < 3; i++) {
		struct call c = {.buf = bytes, .size = sizeof bytes};
		struct fiber *f;
		int fds[2];

		open_pair(SOCK_STREAM, fds);
		c.fd = fds[1];
		f = inside_suspended(sends[i], &c);
		assert_int_equal(recv(fds[0], got, sizeof got, MSG_WAITALL), sizeof got);
		assert_int_equal(inside_join(f), sizeof bytes);
		assert_memory_equal(got, bytes, sizeof bytes);
		close_both(fds);
	}
}

static void test_peek_leaves_the_bytes(void **state)
{
	char bytes[4] = {0};
	int fds[2];
	struct call c = {.buf = bytes, .size = 3, .flags = MSG_PEEK};

	(void)state;
	open_pair(SOCK_STREAM, fds);
	assert_int_equal(send(fds[1], "abc", 3, 0), 3);
	c.fd = fds[0];
	both_give(do_recv, &c, 3, 0);
	c.flags = 0;
	assert_int_equal(inside(do_recv, &c), 3);
	close_both(fds);
}

/* They do not wait for these, on a blocking socket either. */
static void test_receives_of_errors_and_urgent_data_do_not_park(void **state)
{
	char bytes[4];
	struct call c = {.fd = socket(AF_INET, SOCK_DGRAM, 0), .buf = bytes, .size = 1};

	(void)state;
	c.flags = MSG_ERRQUEUE;
	for (size_t i = 0; i < 3; i++)
		both_give(receives[i], &c, -1, EAGAIN);
	close(c.fd);
}

static volatile sig_atomic_t pipes;

static void count_pipe(int number)
{
	(void)number;
	pipes++;
}

static void test_nosignal_sends_no_sigpipe(void **state)
{
	const struct sigaction count = {.sa_handler = count_pipe};
	struct sigaction before;
	int fds[2];
	struct call c = {.buf = "x", .size = 1, .flags = MSG_NOSIGNAL};

	(void)state;
	assert_int_equal(sigaction(SIGPIPE, &count, &before), 0);
	open_pair(SOCK_STREAM, fds);
	close(fds[0]);
	c.fd = fds[1];
	pipes = 0;
	for (size_t i = 0; i < 3; i++)
		both_give(sends[i], &c, -1, EPIPE);
	assert_int_equal(pipes, 0);
	c.flags = 0;
	assert_int_equal(inside(do_send, &c), -1);
	while (!pipes)
		sched_yield();
	close(fds[1]);
	assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
}

static void test_descriptor_that_is_no_socket_is_refused(void **state)
{
	char bytes[4];
	int fds[2];
	struct call c = {.buf = bytes, .size = 1};

	(void)state;
	assert_int_equal(pipe(fds), 0);
	c.fd = fds[0];
	for (size_t i = 0; i < 3; i++)
		both_give(receives[i], &c, -1, ENOTSOCK);
	c.fd = fds[1];
	for (size_t i = 0; i < 3; i++)
		both_give(sends[i], &c, -1, ENOTSOCK);
	close_both(fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_receive_parks_until_a_message_comes),
		cmocka_unit_test(test_dontwait_and_non_blocking_sockets_give_eagain),
		cmocka_unit_test(test_time_out_of_a_receive_and_a_send_is_eagain),
		cmocka_unit_test(test_waitall_parks_until_all_bytes_are_there),
		cmocka_unit_test(test_blocking_send_moves_all_bytes),
		cmocka_unit_test(test_peek_leaves_the_bytes),
		cmocka_unit_test(test_receives_of_errors_and_urgent_data_do_not_park),
		cmocka_unit_test(test_nosignal_sends_no_sigpipe),
		cmocka_unit_test(test_descriptor_that_is_no_socket_is_refused),
	};

	OUTCOME_MAIN(tests);
}
