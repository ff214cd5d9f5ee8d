/* SPDX-License-Identifier: MIT */
/* test_socket.c - connections are made, refused and abandoned, and sockets keep their flags */
#include "inside.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/un.h>

struct call {
	int fd;
	struct sockaddr_in address;
	socklen_t size;
	int64_t deadline;
};

static void *do_accept(void *arg)
{
	struct call *c = arg;

	return (void *)(intptr_t)fiber_accept(c->fd, (struct sockaddr *)&c->address, &c->size,
					      c->deadline);
}

static void *do_accept_nameless(void *arg)
{
	struct call *c = arg;

	return (void *)(intptr_t)fiber_accept(c->fd, NULL, NULL, c->deadline);
}

static void *do_connect(void *arg)
{
	struct call *c = arg;

	return (void *)(intptr_t)fiber_connect(c->fd, (struct sockaddr *)&c->address, c->size,
					       c->deadline);
}

/* A socket bound to a free loopback port; *ret is set to connect to it. */
static int bound(int type, struct call *ret)
{
	const int fd = socket(AF_INET, SOCK_STREAM | type, 0);

	*ret = (struct call){-1, {.sin_family = AF_INET}, sizeof ret->address, FIBER_FOREVER};
	ret->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&ret->address, ret->size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&ret->address, &ret->size), 0);
	return fd;
}

static void connection(int type)
{
	struct call peer, call;
	const int server = bound(type, &peer);
	struct call from = {server, {0}, sizeof from.address, FIBER_FOREVER};
	struct fiber *accepting;
	int fd;

	assert_int_equal(listen(server, 8), 0);
	accepting = inside_spawn(do_accept, &from);
	call = peer;
	call.fd = socket(AF_INET, SOCK_STREAM | type, 0);
	assert_int_equal(inside(do_connect, &call), 0);
	fd = (int)inside_join(accepting);
	assert_true(fd >= 0);
	assert_int_equal(from.size, sizeof from.address);
	assert_int_equal(from.address.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(server, F_GETFL) & O_NONBLOCK, type);
	assert_int_equal(fcntl(call.fd, F_GETFL) & O_NONBLOCK, type);
	assert_int_equal(write(call.fd, "hi", 2), 2);
	fiber_close(fd);
	fiber_close(call.fd);
	fiber_close(server);
}

static void test_socket_connects_and_accepts_blocking_sockets(void **state)
{
	(void)state;
	connection(0);
}

static void test_socket_connects_and_accepts_nonblocking_sockets(void **state)
{
	(void)state;
	connection(SOCK_NONBLOCK);
}

static void test_socket_connects_and_accepts_on_threads(void **state)
{
	struct call peer;
	const int server = bound(0, &peer);
	struct call from = {server, {0}, sizeof from.address, FIBER_FOREVER};
	int fd;

	(void)state;
	assert_int_equal(listen(server, 8), 0);
	peer.fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(on_a_thread(do_connect, &peer), 0);
	fd = (int)on_a_thread(do_accept_nameless, &from);
	assert_true(fd >= 0);
	close(fd);
	close(peer.fd);
	close(server);
}

static void test_socket_connect_to_nobody_is_refused(void **state)
{
	struct call peer;
	const int server = bound(0, &peer); /* no other socket gets the port, and none listens */

	(void)state;
	peer.fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(inside(do_connect, &peer), -ECONNREFUSED);
	fiber_close(peer.fd);
	peer.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(on_a_thread(do_connect, &peer), -ECONNREFUSED);
	close(peer.fd);
	close(server);
}

static void test_socket_accept_times_out_not_before_its_deadline(void **state)
{
	struct call peer, call;
	const int server = bound(0, &peer);

	(void)state;
	assert_int_equal(listen(server, 8), 0);
	call = (struct call){server, {0}, 0, 0};
	assert_int_equal(inside(do_accept_nameless, &call), -ETIMEDOUT);
	call.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_accept_nameless, &call), -ETIMEDOUT);
	assert_true(fiber_now() >= call.deadline);
	call.deadline = fiber_after(2 * MS);
	assert_int_equal(on_a_thread(do_accept_nameless, &call), -ETIMEDOUT);
	assert_true(fiber_now() >= call.deadline);
	fiber_close(server);
}

/* A listener with a full queue drops the first packet of the next client. */
static void test_socket_connect_times_out_where_nobody_answers(void **state)
{
	struct call peer, first;
	const int server = bound(0, &peer);
	int fillers[64], n = 0, rc = 0;

	(void)state;
	assert_int_equal(listen(server, 0), 0);
	while (n < 64 && rc == 0) {
		first = peer;
		first.fd = fillers[n++] = socket(AF_INET, SOCK_STREAM, 0);
		first.deadline = fiber_after(20 * MS);
		rc = (int)inside(do_connect, &first);
	}
	assert_int_equal(rc, -ETIMEDOUT);
	assert_true(fiber_now() >= first.deadline);
	while (n--)
		fiber_close(fillers[n]);
	fiber_close(server);
}

static void test_socket_errors_of_the_system_come_through(void **state)
{
	struct call call = {-1, {.sin_family = AF_INET}, sizeof call.address, FIBER_FOREVER};
	int fds[2];

	(void)state;
	assert_int_equal(inside(do_accept_nameless, &call), -EBADF);
	assert_int_equal(inside(do_connect, &call), -EBADF);
	assert_int_equal(pipe(fds), 0);
	call.fd = fds[0];
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside(do_accept_nameless, &call), -ENOTSOCK);
	assert_int_equal(inside(do_connect, &call), -ENOTSOCK);
	close(fds[0]);
	close(fds[1]);
	call.fd = socket(AF_INET, SOCK_STREAM, 0);
	call.address.sin_family = AF_UNIX;
	assert_int_equal(inside(do_connect, &call), -EAFNOSUPPORT);
	close(call.fd);
}

/* Leave the process `more` descriptors above those in use. Returns the old limit. */
static struct rlimit limit_descriptors(int more)
{
	struct rlimit before, now;
	const int lowest = dup(0);

	assert_true(lowest >= 0);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	now = before;
	now.rlim_cur = (rlim_t)(lowest + more);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
	return before;
}

struct self {
	uint64_t id, switches;
};

static int find_self(const struct fiber_info *info, void *arg)
{
	struct self *self = arg;

	if (info->id == self->id)
		self->switches = info->switches;
	return 0;
}

/*
 * How often the fiber was suspended during 55 ms of trying. It tries again if its carrier got no
 * CPU meanwhile.
 */
static void *count_rests(void *arg)
{
	struct self before = {fiber_id(fiber_self()), 0}, after = before;
	struct call *call = arg;

	while (after.switches == before.switches) {
		fiber_foreach(rt, find_self, &before);
		call->deadline = fiber_after(55 * MS);
		do_accept_nameless(call);
		fiber_foreach(rt, find_self, &after);
	}
	return (void *)(intptr_t)(after.switches - before.switches);
}

static void test_socket_accept_without_a_descriptor_rests_and_tries_again(void **state)
{
	static const int types[] = {0, SOCK_NONBLOCK};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct call peer, call;
		const int server = bound(types[i], &peer);
		struct rlimit before;
		struct fiber *f;
		int fd;

		assert_int_equal(listen(server, 8), 0);
		peer.fd = socket(AF_INET, SOCK_STREAM, 0);
		before = limit_descriptors(0);
		/* There is no connection, so the missing descriptor does not matter. */
		call = (struct call){server, {0}, 0, 0};
		assert_int_equal(inside(do_accept_nameless, &call), -ETIMEDOUT);
		assert_int_equal(inside(do_connect, &peer), 0);
		assert_int_equal(inside(do_accept_nameless, &call), -EMFILE);
		call.deadline = fiber_after(15 * MS);
		assert_int_equal(inside(do_accept_nameless, &call), -EMFILE);
		assert_true(fiber_now() >= call.deadline);
		call.deadline = fiber_after(15 * MS);
		assert_int_equal(on_a_thread(do_accept_nameless, &call), -EMFILE);
		assert_in_range(inside(count_rests, &call), 1, 7);
		call.deadline = FIBER_FOREVER;
		f = inside_suspended(do_accept_nameless, &call);
		assert_int_equal(fiber_cancel(f), 0);
		assert_int_equal(inside_join_cancelled(f), -ECANCELED);
		f = inside_suspended(do_accept_nameless, &call);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		fd = (int)inside_join(f);
		assert_true(fd >= 0);
		fiber_close(fd);
		fiber_close(peer.fd);
		fiber_close(server);
	}
}

static void *connect_unix(void *arg)
{
	const char *const path = arg;
	const size_t length = 1 + strlen(path + 1);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int rc;

	memcpy(at.sun_path, path, length);
	rc = fiber_connect(fd, (struct sockaddr *)&at,
			   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length),
			   FIBER_FOREVER);
	fiber_close(fd);
	return (void *)(intptr_t)rc;
}

static void test_socket_connects_to_a_local_name(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	socklen_t size = sizeof at;
	const int server = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	/* The kernel chooses an abstract name. */
	assert_int_equal(bind(server, (struct sockaddr *)&at, sizeof at.sun_family), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&at, &size), 0);
	assert_int_equal(inside(connect_unix, at.sun_path), -ECONNREFUSED);
	assert_int_equal(listen(server, 8), 0);
	assert_int_equal(inside(connect_unix, at.sun_path), 0);
	close(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_socket_connects_and_accepts_blocking_sockets),
		cmocka_unit_test(test_socket_connects_and_accepts_nonblocking_sockets),
		cmocka_unit_test(test_socket_connects_and_accepts_on_threads),
		cmocka_unit_test(test_socket_connect_to_nobody_is_refused),
		cmocka_unit_test(test_socket_accept_times_out_not_before_its_deadline),
		cmocka_unit_test(test_socket_connect_times_out_where_nobody_answers),
		cmocka_unit_test(test_socket_errors_of_the_system_come_through),
		cmocka_unit_test(test_socket_accept_without_a_descriptor_rests_and_tries_again),
		cmocka_unit_test(test_socket_connects_to_a_local_name),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
