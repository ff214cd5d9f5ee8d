/* SPDX-License-Identifier: MIT */
/*
 * test_accept.c - every connection is served: hundreds at once, and more than there are descriptors
 */
#include "carriers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ACCEPTORS = 8, COMERS = 300, SPARE = 20 };

struct server {
	int listener;
	struct sockaddr_in at;
	_Atomic int accepted, served, came, wrong;
};

static void open_server(struct server *s, int flags)
{
	socklen_t size = sizeof s->at;

	memset(s, 0, sizeof *s);
	s->at.sin_family = AF_INET;
	s->at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	assert_true(s->listener >= 0);
	assert_int_equal(bind(s->listener, (struct sockaddr *)&s->at, sizeof s->at), 0);
	assert_int_equal(getsockname(s->listener, (struct sockaddr *)&s->at, &size), 0);
	assert_int_equal(listen(s->listener, 2 * COMERS), 0);
}

/* Serve until cancelled. */
static void *serve(void *arg)
{
	struct server *s = arg;
	int fd;

	while ((fd = fiber_accept(s->listener, NULL, NULL, FIBER_FOREVER)) >= 0) {
		s->accepted++;
		/* Hold the connection for a while: others arrive meanwhile. */
		fiber_sleep(MS / 10);
		s->served += fiber_send(fd, "!", 1, 0, FIBER_FOREVER) == 1;
		fiber_close(fd);
	}
	s->wrong += fd != -ECANCELED;
	return arg;
}

static void *come(void *arg)
{
	struct server *s = arg;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte = 0;

	if (fiber_connect(fd, (struct sockaddr *)&s->at, sizeof s->at, FIBER_FOREVER) == 0 &&
	    fiber_recv(fd, &byte, 1, 0, FIBER_FOREVER) == 1 && byte == '!' &&
	    fiber_recv(fd, &byte, 1, 0, FIBER_FOREVER) == 0)
		s->came++;
	fiber_close(fd);
	return arg;
}

static bool start_acceptors(struct server *s, struct fiber *acceptors[ACCEPTORS])
{
	for (int i = 0; i < ACCEPTORS; i++)
		if (fiber_spawn(serve, s, &acceptors[i]) < 0)
			return false;
	return true;
}

static void end_acceptors(struct server *s, struct fiber *acceptors[ACCEPTORS])
{
	for (int i = 0; i < ACCEPTORS; i++)
		fiber_cancel(acceptors[i]);
	for (int i = 0; i < ACCEPTORS; i++)
		fiber_join(acceptors[i], NULL, FIBER_FOREVER);
	fiber_close(s->listener);
}

static void *storm(void *arg)
{
	struct server *s = arg;
	struct fiber *acceptors[ACCEPTORS];
	struct fiber_group comers = {.name = "comers"};

	if (!start_acceptors(s, acceptors))
		fiber_fail(-ENOMEM, "no acceptors");
	for (int i = 0; i < COMERS; i++)
		s->wrong += fiber_group_spawn(&comers, come, s) < 0;
	fiber_group_wait(&comers, FIBER_FOREVER);
	end_acceptors(s, acceptors);
	return arg;
}

static void test_accept_storm_over_several_acceptors(void **state)
{
	static const int flags[] = {0, SOCK_NONBLOCK};
	static struct server s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_server(&s, flags[i]);
		assert_int_equal(carriers_run(storm, &s).error, 0);
		assert_int_equal(s.accepted, COMERS);
		assert_int_equal(s.served, COMERS);
		assert_int_equal(s.came, COMERS);
		assert_int_equal(s.wrong, 0);
	}
}

/* -- more than there are descriptors -- */

/* In another process: connect all, then read from each. Returns how many were not served, at most
 * 255. */
static int come_all(const struct server *s)
{
	static int fds[COMERS];
	int missing = 0;
	char byte;

	for (int i = 0; i < COMERS; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fds[i], (const struct sockaddr *)&s->at, sizeof s->at) < 0)
			return 255;
	}
	for (int i = 0; i < COMERS; i++)
		missing += read(fds[i], &byte, 1) != 1;
	return missing < 255 ? missing : 255;
}

/* Each connection keeps a fiber and a descriptor until the others have connected. */
static void *attend(void *arg)
{
	const int fd = (int)(intptr_t)arg;

	fiber_sleep(5 * MS);
	fiber_send(fd, "!", 1, 0, FIBER_FOREVER);
	fiber_close(fd);
	return arg;
}

static void *serve_in_fibers(void *arg)
{
	struct server *s = arg;
	struct fiber_group guests = {.name = "guests"};
	int fd;

	while (s->accepted < COMERS) {
		fd = fiber_accept(s->listener, NULL, NULL, FIBER_FOREVER);
		s->wrong += fd < 0 || fiber_group_spawn(&guests, attend, (void *)(intptr_t)fd) < 0;
		s->accepted++;
	}
	fiber_group_wait(&guests, FIBER_FOREVER);
	return arg;
}

static void test_accept_serves_more_than_there_are_descriptors_for(void **state)
{
	struct rlimit before, now;
	static struct server s;
	int status = -1, lowest;
	pid_t child;

	(void)state;
	open_server(&s, 0);
	child = fork();
	if (child == 0)
		_exit(come_all(&s));
	assert_true(child > 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	now = before;
	lowest = dup(s.listener);
	close(lowest);
	now.rlim_cur = (rlim_t)(lowest + SPARE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
	assert_int_equal(carriers_run(serve_in_fibers, &s).error, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(s.wrong, 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(s.listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accept_storm_over_several_acceptors),
		cmocka_unit_test(test_accept_serves_more_than_there_are_descriptors_for),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
