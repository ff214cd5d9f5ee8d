/* SPDX-License-Identifier: MIT */
/* test_net_waits.c - waits for sockets and pipes of a schedule, by libfiber and by blocking calls */
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/explore/loopback.h"

#define SECOND INT64_C(1000000000)

static int listen_on(unsigned p)
{
	const int fd = listen_at("127.0.0.1", p, 10);

	fiber_test_assert(fd >= 0);
	return fd;
}

static void *read_one(void *arg)
{
	char byte;

	fiber_read((int)(intptr_t)arg, &byte, 1, FIBER_FOREVER);
	return NULL;
}

static void wait_in_vain(int fd)
{
	struct fiber *f;

	fiber_spawn(read_one, (void *)(intptr_t)fd, &f);
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void accept_in_vain(void *arg)
{
	(void)arg;
	fiber_accept(listen_on(80), NULL, NULL, FIBER_FOREVER);
}

static void pipe_in_vain(void *arg)
{
	int ends[2];

	(void)arg;
	fiber_test_assert(pipe(ends) == 0);
	wait_in_vain(ends[0]);
}

static void pair_in_vain(void *arg)
{
	int ends[2];

	(void)arg;
	fiber_test_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	wait_in_vain(ends[0]);
}

static void event_in_vain(void *arg)
{
	(void)arg;
	fiber_wait_fd(eventfd(0, 0), POLLIN, FIBER_FOREVER);
}

static void recv_in_vain(void *arg)
{
	struct pair p = connect_pair();
	char byte;

	(void)arg;
	recv(p.server, &byte, 1, 0); /* libc's: it blocks its carrier */
}

/* Not for a descriptor, after descriptors were used. */
static void signal_in_vain(void *arg)
{
	struct fiber_sem sem = {.count = 0};
	struct pair p = connect_pair();

	(void)arg;
	close_pair(p);
	fiber_sem_wait(&sem, FIBER_FOREVER);
}

/* These would all take 10 s each, the limit for the world outside. */
static void test_waits_within_the_process_are_deadlocks_at_once(void **state)
{
	static fiber_test_fn *const all[] = {accept_in_vain, pipe_in_vain, pair_in_vain,
					     event_in_vain,  recv_in_vain, signal_in_vain};
	struct timespec before, after;
	unsigned i;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (i = 0; i < sizeof all / sizeof *all; i++)
		assert_int_equal(explore_with(all[i], 5, NULL).verdict, FIBER_TEST_DEADLOCK);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(after.tv_sec - before.tv_sec < 10);
}

/* A child has the other end: the world outside is waited for. */
static void hear_from_child(void *arg)
{
	char byte = 0;
	int ends[2];
	pid_t child;

	(void)arg;
	fiber_test_assert(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		poll(NULL, 0, 10);
		_exit(write(ends[1], "x", 1) != 1);
	}
	fiber_test_assert(fiber_read(ends[0], &byte, 1, FIBER_FOREVER) == 1 && byte == 'x');
	fiber_test_assert(waitpid(child, NULL, 0) == child);
	close(ends[0]);
	close(ends[1]);
}

static void test_a_child_is_waited_for(void **state)
{
	(void)state;
	explore(hear_from_child, 2);
}

static void time_out(void *arg)
{
	const int fd = listen_on(80);
	const int64_t before = fiber_now();
	struct timeval hour = {3600, 0};
	struct pair p;
	char byte;

	(void)arg;
	fiber_test_assert(fiber_accept(fd, NULL, NULL, fiber_after(3600 * SECOND)) == -ETIMEDOUT);
	fiber_test_assert(fiber_now() == before + 3600 * SECOND);
	fiber_close(fd);
	p = connect_pair();
	setsockopt(p.client, SOL_SOCKET, SO_RCVTIMEO, &hour, sizeof hour);
	fiber_test_assert(recv(p.client, &byte, 1, 0) == -1 && errno == EAGAIN);
	fiber_test_assert(fiber_now() == before + 7200 * SECOND);
	fiber_pin();
	fiber_test_assert(fiber_read(p.client, &byte, 1, fiber_after(3600 * SECOND)) == -ETIMEDOUT);
	fiber_unpin();
	fiber_test_assert(fiber_now() == before + 10800 * SECOND);
	close_pair(p);
}

static void test_time_is_virtual(void **state)
{
	(void)state;
	explore(time_out, 20);
}

/* -- a program that knows nothing of fibers, with blocking calls -- */

static void *serve_blocking(void *arg)
{
	const int listener = (int)(intptr_t)arg;
	char bytes[5];
	int fd, i;

	for (i = 0; i < 3; i++) {
		fd = accept(listener, NULL, NULL);
		fiber_test_assert(fd >= 0);
		fiber_test_assert(recv(fd, bytes, sizeof bytes, MSG_WAITALL) == sizeof bytes);
		fiber_test_assert(write(fd, bytes, sizeof bytes) == sizeof bytes);
		fiber_test_assert(read(fd, bytes, sizeof bytes) == 0);
		close(fd);
	}
	return NULL;
}

static void wait_by_poll(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	fiber_test_assert(poll(&p, 1, 60000) == 1 && p.revents == POLLIN);
}

static void wait_by_select(int fd)
{
	struct timeval minute = {60, 0};
	fd_set in;

	FD_ZERO(&in);
	FD_SET(fd, &in);
	fiber_test_assert(select(fd + 1, &in, NULL, NULL, &minute) == 1 && FD_ISSET(fd, &in));
}

static void wait_by_epoll(int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
	const int set_of_one = epoll_create1(0);

	fiber_test_assert(epoll_ctl(set_of_one, EPOLL_CTL_ADD, fd, &e) == 0);
	e.data.fd = -1;
	fiber_test_assert(epoll_wait(set_of_one, &e, 1, 60000) == 1 && e.data.fd == fd);
	close(set_of_one);
}

static void call_blocking(void *arg)
{
	static void (*const waits[])(int) = {wait_by_poll, wait_by_select, wait_by_epoll};
	const struct sockaddr_storage at = address("127.0.0.1", 80);
	const int listener = listen_on(80);
	struct fiber *server;
	char bytes[5];
	int fd, i;

	(void)arg;
	fiber_spawn(serve_blocking, (void *)(intptr_t)listener, &server);
	for (i = 0; i < 3; i++) {
		fd = open_socket(AF_INET, SOCK_STREAM);
		fiber_test_assert(connect(fd, (const struct sockaddr *)&at, size_of(&at)) == 0);
		fiber_test_assert(send(fd, "hel", 3, 0) == 3);
		fiber_yield();
		fiber_test_assert(send(fd, "lo", 2, 0) == 2);
		waits[i](fd);
		fiber_test_assert(recv(fd, bytes, sizeof bytes, 0) == sizeof bytes);
		fiber_test_assert(memcmp(bytes, "hello", sizeof bytes) == 0);
		close(fd);
	}
	fiber_join(server, NULL, FIBER_FOREVER);
	close(listener);
}

static void test_blocking_calls_let_other_fibers_run(void **state)
{
	(void)state;
	explore(call_blocking, 200);
}

static void time_out_by_poll(void *arg)
{
	const int64_t before = fiber_now();
	struct pair p = connect_pair();
	struct pollfd one = {.fd = p.client, .events = POLLIN};
	struct timeval minute = {60, 0};
	fd_set in;

	(void)arg;
	fiber_test_assert(poll(&one, 1, 60000) == 0);
	FD_ZERO(&in);
	FD_SET(p.client, &in);
	fiber_test_assert(select(p.client + 1, &in, NULL, NULL, &minute) == 0);
	fiber_test_assert(fiber_now() == before + 120 * SECOND);
	close_pair(p);
}

static void test_timeouts_of_blocking_calls_are_virtual(void **state)
{
	(void)state;
	explore(time_out_by_poll, 20);
}

/* More than the buffers hold, both ways, with blocking calls. */
#define LARGE (1 << 20)
static char large[LARGE];

static void *take_large(void *arg)
{
	static char bytes[LARGE];

	fiber_test_assert(recv((int)(intptr_t)arg, bytes, LARGE, MSG_WAITALL) == LARGE);
	fiber_test_assert(memcmp(bytes, large, LARGE) == 0);
	return NULL;
}

static void send_large(void *arg)
{
	struct pair p = connect_pair();
	struct fiber *f;
	size_t i;

	(void)arg;
	for (i = 0; i < LARGE; i++)
		large[i] = (char)(i * 31 + i / 4096);
	fiber_spawn(take_large, (void *)(intptr_t)p.server, &f);
	fiber_test_assert(send(p.client, large, LARGE, 0) == LARGE);
	fiber_join(f, NULL, FIBER_FOREVER);
	close_pair(p);
}

static void test_streams_keep_their_order(void **state)
{
	(void)state;
	explore(send_large, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_within_the_process_are_deadlocks_at_once),
		cmocka_unit_test(test_a_child_is_waited_for),
		cmocka_unit_test(test_time_is_virtual),
		cmocka_unit_test(test_blocking_calls_let_other_fibers_run),
		cmocka_unit_test(test_timeouts_of_blocking_calls_are_virtual),
		cmocka_unit_test(test_streams_keep_their_order),
	};

	return cmocka_run_group_tests(tests, find_port, NULL);
}
