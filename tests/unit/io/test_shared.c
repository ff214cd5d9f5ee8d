/* SPDX-License-Identifier: MIT */
/* test_shared.c - a descriptor shared with other processes, which find its flags unchanged */
#include "inside.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/wait.h>

#include "os/os.h"

#define ROUNDS 1000

static int listen_somewhere(struct sockaddr_in *ret)
{
	socklen_t size = sizeof *ret;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*ret = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)ret, sizeof *ret), 0);
	assert_int_equal(listen(fd, 128), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &size), 0);
	return fd;
}

/* Connect and return the name that the server sends: each server sends its own. */
static char ask(const struct sockaddr_in *server)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte = '-';

	if (connect(fd, (const struct sockaddr *)server, sizeof *server) < 0 ||
	    read(fd, &byte, 1) != 1)
		byte = '?';
	close(fd);
	return byte;
}

struct server {
	int listener;
	_Atomic int over;
	_Atomic unsigned turns;
	unsigned served, wrong;
};

static void *serve(void *arg)
{
	struct server *s = arg;

	while (!s->over) {
		struct sockaddr_in peer = {0};
		socklen_t size = sizeof peer;
		int fd = fiber_accept(s->listener, (struct sockaddr *)&peer, &size,
				      fiber_after(MS / 5));

		s->turns++;
		if (fd >= 0) {
			s->wrong += size != sizeof peer || peer.sin_family != AF_INET;
			s->wrong += !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
			s->wrong += fiber_write(fd, "p", 1, FIBER_FOREVER) != 1;
			s->wrong += fiber_close(fd) < 0;
			s->served++;
		} else {
			s->wrong += fd != -ETIMEDOUT;
		}
	}
	return NULL;
}

/*
 * Start a child that accepts on the same listener: with accept(2), or (ours) with fiber_accept().
 */
static pid_t start_rival(int listener, bool ours)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	for (;;) {
		int fd = ours ? fiber_accept(listener, NULL, NULL, FIBER_FOREVER)
			      : accept(listener, NULL, NULL);

		if (fd < 0 || write(fd, "c", 1) != 1)
			_exit(1);
		close(fd);
	}
}

static void end_rival(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/*
 * The rival may take a connection. A fiber that comes too late must not wait in accept(2) for the
 * next connection.
 */
static void race(bool ours)
{
	unsigned by_us = 0, by_rival = 0;
	struct server s = {.served = 0};
	struct sockaddr_in address;
	struct fiber *f;
	pid_t rival;

	s.listener = listen_somewhere(&address);
	f = inside_spawn(serve, &s);
	rival = start_rival(s.listener, ours);
	for (int i = 0; i < ROUNDS; i++) {
		char by = ask(&address);
		unsigned turns = s.turns;

		/* The next connection comes only after this server has tried again. */
		while (s.turns < turns + 2)
			sched_yield();
		by_us += by == 'p';
		by_rival += by == 'c';
	}
	s.over = 1;
	inside_join(f);
	end_rival(rival);
	assert_int_equal(by_us + by_rival, ROUNDS);
	assert_int_equal(s.served, by_us);
	assert_int_equal(s.wrong, 0);
	assert_int_equal(fcntl(s.listener, F_GETFL) & O_NONBLOCK, 0);
	fiber_close(s.listener);
	print_message("# %u by us, %u by the rival\n", by_us, by_rival);
}

static void test_shared_listener_blocks_no_carrier_when_another_process_was_first(void **state)
{
	(void)state;
	if (!fib_os_accept_is_sure())
		skip();
	race(false);
}

static void test_shared_listener_is_accepted_from_by_a_forked_child_as_well(void **state)
{
	(void)state;
	if (!fib_os_accept_is_sure())
		skip();
	race(true);
	race(true);
}

/*
 * While we wait on the descriptor, and after we used it, the child sees the same flags as before.
 */
static void test_shared_descriptors_keep_their_flags(void **state)
{
	int pair[2], fds[2], pid, status;
	struct sockaddr_in address;
	struct server s = {.served = 0};
	struct fiber *f;
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(pipe(fds), 0);
	s.listener = listen_somewhere(&address);
	f = inside_spawn(serve, &s);
	assert_int_equal(fiber_read(pair[0], &byte, 1, fiber_after(MS)), -ETIMEDOUT);
	assert_int_equal(fiber_read(fds[0], &byte, 1, fiber_after(MS)), -ETIMEDOUT);
	assert_int_equal(fiber_write(fds[1], "x", 1, 0), 1);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const int all[] = {pair[0], pair[1], fds[0], fds[1], s.listener};
		int wrong = 0;

		for (int k = 0; k < 1000; k++)
			for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
				wrong += (fcntl(all[i], F_GETFL) & O_NONBLOCK) != 0;
		_exit(wrong != 0);
	}
	assert_int_equal(ask(&address), 'p');
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	s.over = 1;
	inside_join(f);
	fiber_close(s.listener);
	for (int i = 0; i < 2; i++) {
		fiber_close(pair[i]);
		fiber_close(fds[i]);
	}
}

static void test_shared_or_not_what_is_no_listener_is_told_so(void **state)
{
	int fds[2], fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	/* Do this twice: the first failure does not affect later calls. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fiber_accept(fd, NULL, NULL, 0), -EINVAL);
		assert_int_equal(fiber_accept(fds[0], NULL, NULL, 0), -ENOTSOCK);
		assert_int_equal(fiber_accept(-1, NULL, NULL, 0), -EBADF);
		assert_int_equal(fiber_accept(4321, NULL, NULL, 0), -EBADF);
	}
	close(fd);
	fd = listen_somewhere(&address);
	assert_int_equal(fiber_accept(fd, NULL, NULL, 0), -ETIMEDOUT);
	close(fd);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_shared_listener_blocks_no_carrier_when_another_process_was_first),
		cmocka_unit_test(test_shared_listener_is_accepted_from_by_a_forked_child_as_well),
		cmocka_unit_test(test_shared_descriptors_keep_their_flags),
		cmocka_unit_test(test_shared_or_not_what_is_no_listener_is_told_so),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
