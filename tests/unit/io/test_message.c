/* SPDX-License-Identifier: MIT */
/* test_message.c - messages arrive with their flags and addresses, and can be waited for */
#include "inside.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

struct message {
	int fd;
	char bytes[32];
	size_t size;
	int flags;
	struct sockaddr_storage address;
	socklen_t length;
	int64_t deadline;
};

static void *do_recv(void *arg)
{
	struct message *m = arg;

	return (void *)(intptr_t)fiber_recv(m->fd, m->bytes, m->size, m->flags, m->deadline);
}

static void *do_send(void *arg)
{
	struct message *m = arg;

	return (void *)(intptr_t)fiber_send(m->fd, m->bytes, m->size, m->flags, m->deadline);
}

static void *do_recvfrom(void *arg)
{
	struct message *m = arg;

	return (void *)(intptr_t)fiber_recvfrom(m->fd, m->bytes, m->size, m->flags,
						(struct sockaddr *)&m->address, &m->length,
						m->deadline);
}

static void *do_sendto(void *arg)
{
	struct message *m = arg;

	return (void *)(intptr_t)fiber_sendto(m->fd, m->bytes, m->size, m->flags,
					      (struct sockaddr *)&m->address, m->length,
					      m->deadline);
}

static void *do_recv_pinned(void *arg)
{
	return as_pinned(do_recv, arg);
}

static struct message message(int fd, const char *text, int64_t deadline)
{
	struct message m = {.fd = fd, .size = sizeof m.bytes, .deadline = deadline};

	m.length = sizeof m.address;
	if (text) {
		m.size = strlen(text);
		memcpy(m.bytes, text, m.size);
	}
	return m;
}

static void pair(int type, int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, type, 0, fds), 0);
}

static void done(int fds[2])
{
	fiber_close(fds[0]);
	fiber_close(fds[1]);
}

static void test_message_flags_do_what_recv_says(void **state)
{
	int fds[2];
	struct message in, out;

	(void)state;
	pair(SOCK_STREAM, fds);
	in = message(fds[0], NULL, FIBER_FOREVER);
	out = message(fds[1], "hello", FIBER_FOREVER);
	in.flags = MSG_DONTWAIT;
	assert_int_equal(inside(do_recv, &in), -EAGAIN);
	assert_int_equal(inside(do_send, &out), 5);
	in.flags = MSG_PEEK;
	assert_int_equal(inside(do_recv, &in), 5);
	in.flags = 0;
	assert_int_equal(inside(do_recv, &in), 5);
	assert_memory_equal(in.bytes, "hello", 5);
	close(fds[0]);
	assert_int_equal(inside(do_send, &out), -EPIPE);
	fiber_close(fds[1]);
	pair(SOCK_DGRAM, fds);
	in = message(fds[0], NULL, FIBER_FOREVER);
	out.fd = fds[1];
	assert_int_equal(inside(do_send, &out), 5);
	in.size = 2;
	in.flags = MSG_TRUNC | MSG_WAITALL;
	assert_int_equal(inside(do_recv, &in), 5);
	done(fds);
}

static void test_message_waits_and_gives_up_as_every_call(void **state)
{
	int fds[2];
	struct message m;
	struct fiber *f;

	(void)state;
	pair(SOCK_DGRAM, fds);
	m = message(fds[0], NULL, FIBER_FOREVER);
	f = inside_suspended(do_recv, &m);
	assert_int_equal(send(fds[1], "abc", 3, 0), 3);
	assert_int_equal(inside_join(f), 3);
	m.deadline = 0;
	assert_int_equal(inside(do_recvfrom, &m), -ETIMEDOUT);
	m.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_recv, &m), -ETIMEDOUT);
	assert_true(fiber_now() >= m.deadline);
	m.deadline = fiber_after(2 * MS);
	assert_int_equal(on_a_thread(do_recvfrom, &m), -ETIMEDOUT);
	m.deadline = FIBER_FOREVER;
	f = inside_suspended(do_recvfrom, &m);
	assert_int_equal(fiber_cancel(f), 0);
	assert_int_equal(inside_join_cancelled(f), -ECANCELED);
	f = inside_suspended(do_recv, &m);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR), 0);
	assert_int_equal(inside(do_recv_pinned, &m), -EDEADLK);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_WARN), 0);
	fiber_close(fds[0]);
	assert_int_equal(inside_join(f), -EBADF);
	close(fds[1]);
}

static void test_message_waitall_waits_for_all_of_a_stream(void **state)
{
	int fds[2];
	struct message m;
	struct fiber *f;

	(void)state;
	pair(SOCK_STREAM, fds);
	m = message(fds[0], NULL, FIBER_FOREVER);
	m.flags = MSG_WAITALL;
	m.size = 6;
	assert_int_equal(send(fds[1], "abc", 3, 0), 3);
	f = inside_suspended(do_recv, &m);
	assert_int_equal(send(fds[1], "def!", 4, 0), 4);
	assert_int_equal(inside_join(f), 6);
	assert_memory_equal(m.bytes, "abcdef", 6);
	/* The messages that have arrived are returned first; only a later call times out. */
	m.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_recv, &m), 1);
	assert_true(fiber_now() >= m.deadline);
	assert_int_equal(inside(do_recv, &m), -ETIMEDOUT);
	m.deadline = FIBER_FOREVER;
	f = inside_suspended(do_recv, &m);
	assert_int_equal(send(fds[1], "x", 1, 0), 1);
	close(fds[1]);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(inside(do_recv, &m), 0);
	fiber_close(fds[0]);
}

static int udp(struct message *ret)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	const int fd = socket(AF_INET, SOCK_DGRAM, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*ret = message(fd, NULL, FIBER_FOREVER);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&ret->address, &ret->length), 0);
	return fd;
}

static void test_message_datagrams_have_a_sender(void **state)
{
	struct message a, b, out, in;
	struct fiber *f;

	(void)state;
	udp(&a);
	udp(&b);
	in = message(b.fd, NULL, FIBER_FOREVER);
	f = inside_suspended(do_recvfrom, &in);
	out = message(a.fd, "who?", FIBER_FOREVER);
	out.address = b.address;
	out.length = b.length;
	assert_int_equal(inside(do_sendto, &out), 4);
	assert_int_equal(inside_join(f), 4);
	assert_int_equal(in.length, a.length);
	assert_memory_equal(&in.address, &a.address, a.length);
	/* A reply to the sender's address; and an empty message. */
	memcpy(in.bytes, "me", in.size = 2);
	assert_int_equal(inside(do_sendto, &in), 2);
	assert_int_equal(inside(do_recvfrom, &a), 2);
	in.size = 0;
	assert_int_equal(on_a_thread(do_sendto, &in), 0);
	a.size = sizeof a.bytes;
	assert_int_equal(on_a_thread(do_recvfrom, &a), 0);
	fiber_close(a.fd);
	fiber_close(b.fd);
}

/* -- a Unix socket with an address and a full queue -- */

static void test_message_to_an_address_that_is_full_rests_and_arrives(void **state)
{
	struct message server = message(socket(AF_UNIX, SOCK_DGRAM, 0), NULL, FIBER_FOREVER);
	struct message out = message(socket(AF_UNIX, SOCK_DGRAM, 0), "x", FIBER_FOREVER);
	struct sockaddr_un any = {.sun_family = AF_UNIX};
	struct fiber *f;
	int sent = 0;

	(void)state;
	assert_int_equal(bind(server.fd, (struct sockaddr *)&any, sizeof any.sun_family), 0);
	assert_int_equal(getsockname(server.fd, (struct sockaddr *)&server.address, &server.length),
			 0);
	out.address = server.address;
	out.length = server.length;
	out.flags = MSG_DONTWAIT;
	while (inside(do_sendto, &out) == 1)
		sent++;
	out.flags = 0;
	out.deadline = fiber_after(5 * MS);
	assert_int_equal(inside(do_sendto, &out), -ETIMEDOUT);
	assert_true(fiber_now() >= out.deadline);
	out.deadline = FIBER_FOREVER;
	f = inside_suspended(do_sendto, &out);
	assert_int_equal(fiber_cancel(f), 0);
	assert_int_equal(inside_join_cancelled(f), -ECANCELED);
	f = inside_suspended(do_sendto, &out);
	assert_int_equal(inside(do_recv, &server), 1);
	assert_int_equal(inside_join(f), 1);
	server.flags = MSG_DONTWAIT;
	while (inside(do_recv, &server) == 1)
		sent--;
	assert_int_equal(sent, 0);
	fiber_close(server.fd);
	fiber_close(out.fd);
}

struct plain {
	int fd;
	struct msghdr *m;
};

static void *do_recvmsg(void *arg)
{
	struct plain *p = arg;

	return (void *)(intptr_t)fiber_recvmsg(p->fd, p->m, 0, FIBER_FOREVER);
}

static void *do_sendmsg(void *arg)
{
	struct plain *p = arg;

	return (void *)(intptr_t)fiber_sendmsg(p->fd, p->m, 0, FIBER_FOREVER);
}

static void test_message_errors_of_the_system_come_through(void **state)
{
	struct message m = message(-1, "abc", FIBER_FOREVER);
	struct msghdr none = {0};
	struct plain p = {-1, &none};
	int fds[2];

	(void)state;
	assert_int_equal(inside(do_recv, &m), -EBADF);
	assert_int_equal(inside(do_send, &m), -EBADF);
	assert_int_equal(inside(do_recvmsg, &p), -EBADF);
	assert_int_equal(inside(do_sendmsg, &p), -EBADF);
	assert_int_equal(pipe(fds), 0);
	m.fd = fds[0];
	assert_int_equal(inside(do_recv, &m), -ENOTSOCK);
	m.flags = MSG_WAITALL;
	assert_int_equal(inside(do_recv, &m), -ENOTSOCK);
	m.flags = 0;
	m.length = 0;
	assert_int_equal(inside(do_sendto, &m), -ENOTSOCK);
	done(fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message_flags_do_what_recv_says),
		cmocka_unit_test(test_message_waits_and_gives_up_as_every_call),
		cmocka_unit_test(test_message_waitall_waits_for_all_of_a_stream),
		cmocka_unit_test(test_message_datagrams_have_a_sender),
		cmocka_unit_test(test_message_to_an_address_that_is_full_rests_and_arrives),
		cmocka_unit_test(test_message_errors_of_the_system_come_through),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
