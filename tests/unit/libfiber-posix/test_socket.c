/* SPDX-License-Identifier: MIT */
/* test_socket.c - accept(2) and connect(2) in a fiber, as POSIX says */
#include "outcome.h"

#include <netinet/in.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/un.h>

#include "tests/harness/paths.h"

static struct sockaddr_in address;

static int listener(int flags)
{
	const int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
	socklen_t size = sizeof address;

	address = (struct sockaddr_in){.sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	return fd;
}

static void *do_accept(void *arg)
{
	struct call *c = arg;

	return outcome(c, accept(c->fd, NULL, NULL));
}

static void *do_accept4(void *arg)
{
	struct call *c = arg;
	struct sockaddr_in peer;
	socklen_t size = sizeof peer;
	const int fd = accept4(c->fd, (struct sockaddr *)&peer, &size, c->flags);

	return outcome(c, fd >= 0 && peer.sin_family != AF_INET ? -2 : fd);
}

static void *do_connect(void *arg)
{
	struct call *c = arg;

	return outcome(c, connect(c->fd, (struct sockaddr *)&address, sizeof address));
}

static int dial(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

static void test_accept_parks_and_gives_the_flags_that_it_was_asked_for(void **state)
{
	static const int flags[] = {0, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_CLOEXEC | SOCK_NONBLOCK};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct call c = {.fd = listener(0), .flags = i < 4 ? flags[i] : 0};
		struct fiber *f = inside_suspended(i < 4 ? do_accept4 : do_accept, &c);
		const int far = dial(), fd = (int)inside_join(f);

		assert_true(fd >= 0);
		assert_int_equal(!!(fcntl(fd, F_GETFD) & FD_CLOEXEC), !!(c.flags & SOCK_CLOEXEC));
		assert_int_equal(!!(fcntl(fd, F_GETFL) & O_NONBLOCK), !!(c.flags & SOCK_NONBLOCK));
		assert_false(fcntl(c.fd, F_GETFL) & O_NONBLOCK);
		close(fd);
		close(far);
		close(c.fd);
	}
}

static void test_accept_on_a_non_blocking_listener_is_eagain(void **state)
{
	struct call c = {.fd = listener(SOCK_NONBLOCK)};

	(void)state;
	both_give(do_accept, &c, -1, EAGAIN);
	both_give(do_accept4, &c, -1, EAGAIN);
	c.flags = 12345;
	both_give(do_accept4, &c, -1, EINVAL);
	close(c.fd);
}

static void test_accept_at_the_time_out_of_the_listener_is_eagain(void **state)
{
	struct call c = {.fd = listener(0)};

	(void)state;
	set_timeout(c.fd, SO_RCVTIMEO, 10);
	both_give(do_accept, &c, -1, EAGAIN);
	close(c.fd);
}

static void test_accept_without_a_free_descriptor_is_emfile_at_once(void **state)
{
	struct call c = {.fd = listener(0)};
	const int far = dial();
	struct rlimit limit, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)far + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	both_give(do_accept, &c, -1, EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(far);
	close(c.fd);
}

static void test_connect_of_a_blocking_socket_is_connected_and_stays_blocking(void **state)
{
	const int fd = listener(0);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct call c = {.fd = socket(AF_INET, SOCK_STREAM, 0)};

		assert_int_equal(i ? on_a_thread(do_connect, &c) : inside(do_connect, &c), 0);
		assert_false(fcntl(c.fd, F_GETFL) & O_NONBLOCK);
		assert_int_equal(inside(do_connect, &c), -1);
		assert_int_equal(c.error, EISCONN);
		close(c.fd);
	}
	close(fd);
}

static void test_connect_of_a_non_blocking_socket_is_in_progress(void **state)
{
	const int fd = listener(0);
	struct call c = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};

	(void)state;
	assert_int_equal(inside(do_connect, &c), -1);
	assert_int_equal(c.error, EINPROGRESS);
	close(c.fd);
	close(fd);
}

static void test_connect_to_nobody_is_refused(void **state)
{
	struct call c;

	(void)state;
	close(listener(0));
	for (int i = 0; i < 2; i++) {
		c.fd = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(i ? on_a_thread(do_connect, &c) : inside(do_connect, &c), -1);
		assert_int_equal(c.error, ECONNREFUSED);
		close(c.fd);
	}
}

static struct sockaddr_un place;

static void *do_connect_unix(void *arg)
{
	struct call *c = arg;

	return outcome(c, connect(c->fd, (struct sockaddr *)&place, sizeof place));
}

static void test_connect_waits_for_room_in_the_backlog_of_a_unix_socket(void **state)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct call first = {.fd = socket(AF_UNIX, SOCK_STREAM, 0)},
		    c = {.fd = socket(AF_UNIX, SOCK_STREAM, 0)};
	char path[HARNESS_PATH];
	struct fiber *f;
	int near;

	(void)state;
	place.sun_family = AF_UNIX;
	snprintf(place.sun_path, sizeof place.sun_path, "%s", harness_file(path, "s"));
	assert_int_equal(bind(fd, (struct sockaddr *)&place, sizeof place), 0);
	assert_int_equal(listen(fd, 0), 0);
	assert_int_equal(inside(do_connect_unix, &first), 0);
	set_timeout(c.fd, SO_SNDTIMEO, 20);
	both_give(do_connect_unix, &c, -1, EAGAIN);
	set_timeout(c.fd, SO_SNDTIMEO, 0);
	f = inside_suspended(do_connect_unix, &c);
	near = accept(fd, NULL, NULL);
	assert_int_equal(inside_join(f), 0);
	close(near);
	close(first.fd);
	close(c.fd);
	close(fd);
}

static void *accept_as_cancelled(void *arg)
{
	return as_cancelled(do_accept, arg);
}

static void test_cancelled_accept_without_a_free_descriptor_ends(void **state)
{
	struct call c = {.fd = listener(0)};
	const int far = dial();
	struct rlimit limit, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)far + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(inside_join_cancelled(inside_spawn(accept_as_cancelled, &c)), -1);
	assert_int_equal(c.error, ECANCELED);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(far);
	close(c.fd);
}

/* The listener has no room: the kernel drops what the socket sends, which tries again after 1 s. */
static void test_connect_waits_for_an_attempt_that_was_begun_before(void **state)
{
	const int fd = listener(0), flags = fcntl(fd, F_GETFL);
	struct call c = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
	struct fiber *f;
	int far;

	(void)state;
	assert_int_equal(listen(fd, 0), 0);
	far = dial();
	assert_int_equal(inside(do_connect, &c), -1);
	assert_int_equal(c.error, EINPROGRESS);
	both_give(do_connect, &c, -1, EALREADY);
	assert_int_equal(fcntl(c.fd, F_SETFL, flags), 0);
	set_timeout(c.fd, SO_SNDTIMEO, 20);
	both_give(do_connect, &c, -1, EALREADY);
	set_timeout(c.fd, SO_SNDTIMEO, 0);
	f = inside_suspended(do_connect, &c);
	close(accept(fd, NULL, NULL));
	assert_int_equal(inside_join(f), 0);
	both_give(do_connect, &c, -1, EISCONN);
	close(far);
	close(c.fd);
	close(fd);
}

static void *do_recv(void *arg)
{
	struct call *c = arg;

	return outcome(c, recv(c->fd, c->buf, c->size, 0));
}

static void test_connect_of_datagrams_leaves_a_fiber_that_receives_them(void **state)
{
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int far = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t size = sizeof own;
	char bytes[8];
	struct call c = {.fd = socket(AF_INET, SOCK_DGRAM, 0), .buf = bytes, .size = sizeof bytes};
	struct call connecting = c;
	struct fiber *f;

	(void)state;
	/* It takes a connect for the creation of the descriptor, and reports that another thread receives from it. */
	if (strcmp(harness_sanitizer(), "thread") == 0)
		skip();
	assert_int_equal(bind(c.fd, (struct sockaddr *)&own, size), 0);
	assert_int_equal(bind(far, (struct sockaddr *)&own, size), 0);
	assert_int_equal(getsockname(c.fd, (struct sockaddr *)&own, &size), 0);
	assert_int_equal(getsockname(far, (struct sockaddr *)&address, &size), 0);
	f = inside_suspended(do_recv, &c);
	assert_int_equal(inside(do_connect, &connecting), 0);
	assert_int_equal(sendto(far, "abc", 3, 0, (struct sockaddr *)&own, sizeof own), 3);
	assert_int_equal(inside_join(f), 3);
	close(far);
	close(c.fd);
}

/* flags: those of the call. */
static void *do_sendto(void *arg)
{
	struct call *c = arg;

	return outcome(c, sendto(c->fd, c->buf, c->size, c->flags, (struct sockaddr *)&address,
				 sizeof address));
}

static void test_send_that_connects_waits_for_the_connection(void **state)
{
	const int fd = listener(0);
	struct call c = {.buf = "abc", .size = 3, .flags = MSG_FASTOPEN};
	char bytes[8];

	(void)state;
	for (int i = 0; i < 2; i++) {
		intptr_t n;
		int near;

		c.fd = socket(AF_INET, SOCK_STREAM, 0);
		n = i ? inside(do_sendto, &c) : on_a_thread(do_sendto, &c);
		if (i == 0 && n < 0)
			skip();
		assert_int_equal(n, 3);
		near = accept(fd, NULL, NULL);
		assert_int_equal(recv(near, bytes, sizeof bytes, 0), 3);
		close(near);
		close(c.fd);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accept_parks_and_gives_the_flags_that_it_was_asked_for),
		cmocka_unit_test(test_accept_on_a_non_blocking_listener_is_eagain),
		cmocka_unit_test(test_accept_at_the_time_out_of_the_listener_is_eagain),
		cmocka_unit_test(test_accept_without_a_free_descriptor_is_emfile_at_once),
		cmocka_unit_test(test_connect_of_a_blocking_socket_is_connected_and_stays_blocking),
		cmocka_unit_test(test_connect_of_a_non_blocking_socket_is_in_progress),
		cmocka_unit_test(test_connect_to_nobody_is_refused),
		cmocka_unit_test(test_connect_waits_for_room_in_the_backlog_of_a_unix_socket),
		cmocka_unit_test(test_cancelled_accept_without_a_free_descriptor_ends),
		cmocka_unit_test(test_connect_waits_for_an_attempt_that_was_begun_before),
		cmocka_unit_test(test_connect_of_datagrams_leaves_a_fiber_that_receives_them),
		cmocka_unit_test(test_send_that_connects_waits_for_the_connection),
	};

	OUTCOME_MAIN(tests);
}
