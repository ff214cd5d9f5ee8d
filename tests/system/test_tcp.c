/* SPDX-License-Identifier: MIT */
/* test_tcp.c - a server and its clients over the loopback; descriptors closed and reused at once */
#include "carriers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct sockaddr *address_of(const struct sockaddr_in *in)
{
	return (const struct sockaddr *)in;
}

/* A listening socket on a free loopback port. */
static int listener(struct sockaddr_in *ret)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof *ret;

	*ret = (struct sockaddr_in){.sin_family = AF_INET};
	ret->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, address_of(ret), size), 0);
	assert_int_equal(listen(fd, 1024), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &size), 0);
	return fd;
}

/* -- an echo server -- */

#define CLIENTS	 200
#define MESSAGES 20

struct echo {
	struct sockaddr_in at;
	int listener;
	_Atomic int echoed, failed;
};

static void *echo_connection(void *arg)
{
	const int fd = (int)(intptr_t)arg;
	char bytes[512];
	ssize_t n, at, put = 0;

	while (put >= 0 && (n = fiber_read(fd, bytes, sizeof bytes, FIBER_FOREVER)) > 0)
		for (at = 0; at < n && put >= 0; at += put)
			put = fiber_write(fd, bytes + at, (size_t)(n - at), FIBER_FOREVER);
	fiber_close(fd);
	return NULL;
}

static void *serve(void *arg)
{
	struct echo *e = arg;

	for (;;) {
		const int fd = fiber_accept(e->listener, NULL, NULL, FIBER_FOREVER);

		if (fd == -EBADF)
			return NULL; /* the listener was closed */
		if (fd < 0 || fiber_spawn(echo_connection, (void *)(intptr_t)fd, NULL) < 0)
			e->failed++;
	}
}

static bool exchange(int fd, unsigned number)
{
	unsigned back[32], sent[32];
	size_t got = 0;
	ssize_t n;

	for (int i = 0; i < 32; i++)
		sent[i] = number * 1000003u + (unsigned)i;
	if (fiber_write(fd, sent, sizeof sent, FIBER_FOREVER) != sizeof sent)
		return false;
	while (got < sizeof back) {
		n = fiber_read(fd, (char *)back + got, sizeof back - got, FIBER_FOREVER);
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return !memcmp(back, sent, sizeof back);
}

static void *client(void *arg)
{
	struct echo *e = arg;
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || fiber_connect(fd, address_of(&e->at), sizeof e->at, FIBER_FOREVER) < 0)
		e->failed++;
	for (unsigned i = 0; i < MESSAGES; i++)
		if (exchange(fd, (unsigned)fiber_id(fiber_self()) * MESSAGES + i))
			e->echoed++;
		else
			e->failed++;
	fiber_close(fd);
	return NULL;
}

static void *echo_main(void *arg)
{
	struct echo *e = arg;
	struct fiber *server, *clients[CLIENTS];

	fiber_spawn(serve, e, &server);
	for (int i = 0; i < CLIENTS; i++)
		e->failed += fiber_spawn(client, e, &clients[i]) != 0;
	for (int i = 0; i < CLIENTS; i++)
		fiber_join(clients[i], NULL, FIBER_FOREVER);
	fiber_close(e->listener);
	fiber_join(server, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_tcp_200_connections_are_echoed(void **state)
{
	struct echo e = {.failed = 0};

	(void)state;
	e.listener = listener(&e.at);
	carriers_run(echo_main, &e);
	assert_int_equal(e.failed, 0);
	assert_int_equal(e.echoed, CLIENTS * MESSAGES);
}

/* -- closing -- */

static void *read_one(void *arg)
{
	char byte;

	return (void *)(intptr_t)fiber_read(*(int *)arg, &byte, 1, FIBER_FOREVER);
}

static void *accept_one(void *arg)
{
	return (void *)(intptr_t)fiber_accept(*(int *)arg, NULL, NULL, FIBER_FOREVER);
}

struct closing {
	int fd;
	fiber_fn *wait;
	intptr_t rc[4];
};

static void *close_under_waiters(void *arg)
{
	struct closing *c = arg;
	struct fiber *f[4];
	struct fiber_result r = {NULL, 1};

	for (int i = 0; i < 4; i++) {
		fiber_spawn(c->wait, &c->fd, &f[i]);
		carriers_await_suspended(f[i]);
	}
	if (fiber_close(c->fd) < 0)
		return NULL;
	for (int i = 0; i < 4; i++) {
		fiber_join(f[i], &r, FIBER_FOREVER);
		c->rc[i] = (intptr_t)r.value;
	}
	return NULL;
}

static void test_tcp_close_wakes_everybody_with_ebadf(void **state)
{
	struct sockaddr_in at;
	struct closing c = {.wait = accept_one};
	int fds[2];

	(void)state;
	c.fd = listener(&at);
	carriers_run(close_under_waiters, &c);
	for (int i = 0; i < 4; i++)
		assert_int_equal(c.rc[i], -EBADF);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	c = (struct closing){.fd = fds[0], .wait = read_one};
	carriers_run(close_under_waiters, &c);
	for (int i = 0; i < 4; i++)
		assert_int_equal(c.rc[i], -EBADF);
	close(fds[1]);
}

struct opening {
	int fds[2];
	_Atomic int wrong;
};

/* The reader may be at any point before the wait when the descriptor is closed. */
static void *close_under_a_read_that_begins(void *arg)
{
	struct opening *o = arg;
	struct fiber_result r;
	struct fiber *f;

	for (int i = 0; i < 3000; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, o->fds) < 0 ||
		    fiber_spawn(read_one, &o->fds[0], &f) < 0)
			return NULL;
		for (int turns = i % 200; turns; turns--)
			o->wrong += fiber_id(f) == 0;
		fiber_close(o->fds[0]);
		fiber_join(f, &r, FIBER_FOREVER);
		o->wrong += (intptr_t)r.value != -EBADF;
		fiber_close(o->fds[1]);
	}
	return arg;
}

static void test_tcp_close_against_a_read_that_begins_leaves_nobody_waiting(void **state)
{
	struct opening o = {.wrong = 0};

	(void)state;
	if (!strcmp(harness_sanitizer(), "thread"))
		skip(); /* TSan reports the race that is tested here */
	assert_non_null(carriers_run(close_under_a_read_that_begins, &o).value);
	assert_int_equal(o.wrong, 0);
}

/* -- reused descriptor numbers -- */

struct again {
	int reused, stale;
};

/* A descriptor with unread bytes is closed while its event may be under way. The next descriptor
 * gets the same number and must wait for its own bytes. */
static void *reuse(void *arg)
{
	struct again *a = arg;
	int old[2], new[2], before = -1;
	char byte;

	for (int i = 0; i < 300; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, old) < 0)
			return NULL;
		a->stale += fiber_read(old[0], &byte, 1, 0) != -ETIMEDOUT;
		a->stale += fiber_read(old[0], &byte, 1, fiber_after(1000)) != -ETIMEDOUT;
		a->stale += write(old[1], "o", 1) != 1;
		before = old[0];
		fiber_close(old[0]);
		fiber_close(old[1]);
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, new) < 0)
			return NULL;
		a->reused += new[0] == before;
		a->stale += fiber_read(new[0], &byte, 1, fiber_after(20000)) != -ETIMEDOUT;
		a->stale += fiber_wait_fd(new[0], POLLIN, fiber_after(1000)) != -ETIMEDOUT;
		a->stale += write(new[1], "n", 1) != 1;
		a->stale += fiber_read(new[0], &byte, 1, FIBER_FOREVER) != 1 || byte != 'n';
		fiber_close(new[0]);
		fiber_close(new[1]);
	}
	return arg;
}

static void test_tcp_number_used_again_never_sees_the_old_event(void **state)
{
	struct again a = {0};

	(void)state;
	assert_non_null(carriers_run(reuse, &a).value);
	assert_int_equal(a.stale, 0);
	assert_true(a.reused > 200);
}

/*
 * The poller registers each accepted or connected descriptor once. It must register every new one,
 * no matter what number the descriptor has.
 */
static void *one_connection_after_another(void *arg)
{
	struct echo *e = arg;
	struct fiber *server;

	fiber_spawn(serve, e, &server);
	for (unsigned i = 0; i < 300; i++) {
		const int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fiber_connect(fd, address_of(&e->at), sizeof e->at, FIBER_FOREVER) == 0 &&
		    exchange(fd, i))
			e->echoed++;
		fiber_close(fd);
	}
	fiber_close(e->listener);
	fiber_join(server, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_tcp_300_connections_one_after_another(void **state)
{
	struct echo e = {.failed = 0};

	(void)state;
	e.listener = listener(&e.at);
	carriers_run(one_connection_after_another, &e);
	assert_int_equal(e.failed, 0);
	assert_int_equal(e.echoed, 300);
}

/* -- a second runtime does not rely on the first one's poller -- */

static void test_tcp_descriptor_goes_on_in_the_next_runtime(void **state)
{
	struct fiber_result r = {NULL, 1};
	struct fiber_runtime *rt;
	struct fiber *f;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int i = 0; i < 20; i++) {
		rt = carriers_start();
		assert_int_equal(fiber_runtime_spawn(rt, NULL, read_one, &fds[0], &f), 0);
		carriers_await_suspended(f);
		assert_int_equal(write(fds[1], "x", 1), 1);
		assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
		assert_int_equal((intptr_t)r.value, 1);
		carriers_finish(rt);
	}
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp_200_connections_are_echoed),
		cmocka_unit_test(test_tcp_close_wakes_everybody_with_ebadf),
		cmocka_unit_test(test_tcp_close_against_a_read_that_begins_leaves_nobody_waiting),
		cmocka_unit_test(test_tcp_number_used_again_never_sees_the_old_event),
		cmocka_unit_test(test_tcp_300_connections_one_after_another),
		cmocka_unit_test(test_tcp_descriptor_goes_on_in_the_next_runtime),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
