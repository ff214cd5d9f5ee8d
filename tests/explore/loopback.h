/* SPDX-License-Identifier: MIT */
/*
 * loopback.h - compare internet sockets of a schedule with the system's on loopback
 *
 * A body writes down what its calls return. It runs first outside a schedule, on the system's
 * sockets, then in schedules, where it must write the same.
 */
#ifndef TESTS_EXPLORE_LOOPBACK_H
#define TESTS_EXPLORE_LOOPBACK_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#define ROOM 16384

static char expected[ROOM], heard[ROOM];
static char *notes = expected;
static uint16_t port; /* one that is free on the system */

__attribute__((format(printf, 1, 2))) static inline void say(const char *fmt, ...)
{
	const size_t at = strlen(notes);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(notes + at, ROOM - at, fmt, ap);
	va_end(ap);
}

/* A result of libc: the number, or the name of the error. */
static inline void say_result(const char *what, long rc)
{
	if (rc < 0)
		say("%s: %s\n", what, strerrorname_np(errno));
	else
		say("%s: %ld\n", what, rc);
}

/* A result of libfiber. */
static inline void say_fiber(const char *what, long rc)
{
	errno = rc < 0 ? (int)-rc : 0;
	say_result(what, rc);
}

static inline struct sockaddr_storage address(const char *text, unsigned p)
{
	struct sockaddr_storage ss;
	struct sockaddr_in *v4 = (struct sockaddr_in *)&ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&ss;

	memset(&ss, 0, sizeof ss);
	if (strchr(text, ':')) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)p);
		inet_pton(AF_INET6, text, &v6->sin6_addr);
	} else {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)p);
		inet_pton(AF_INET, text, &v4->sin_addr);
	}
	return ss;
}

static inline socklen_t size_of(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* Numbers that the system chooses are written as "chosen". */
static inline void say_address(const char *what, const struct sockaddr_storage *ss, socklen_t size)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)ss;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)ss;
	const unsigned p = ntohs(ss->ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
	char text[64] = "?";

	inet_ntop(ss->ss_family,
		  ss->ss_family == AF_INET ? (const void *)&v4->sin_addr
					   : (const void *)&v6->sin6_addr,
		  text, sizeof text);
	say("%s: %s %s (%u bytes)\n", what, text,
	    p == port ? "port"
	    : p	      ? "chosen"
		      : "none",
	    (unsigned)size);
}

static inline void say_own(const char *what, int fd)
{
	struct sockaddr_storage ss;
	socklen_t size = sizeof ss;

	memset(&ss, 0, sizeof ss);
	if (getsockname(fd, (struct sockaddr *)&ss, &size) < 0)
		say_result(what, -1);
	else
		say_address(what, &ss, size);
}

static inline void say_peer(const char *what, int fd)
{
	struct sockaddr_storage ss;
	socklen_t size = sizeof ss;

	memset(&ss, 0, sizeof ss);
	if (getpeername(fd, (struct sockaddr *)&ss, &size) < 0)
		say_result(what, -1);
	else
		say_address(what, &ss, size);
}

static inline int open_socket(int family, int type)
{
	const int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fiber_test_fail("socket: %s", strerror(errno));
	return fd;
}

static inline int bind_to(int fd, const char *text, unsigned p)
{
	const struct sockaddr_storage ss = address(text, p);

	return bind(fd, (const struct sockaddr *)&ss, size_of(&ss));
}

static inline int connect_to(int fd, const char *text, unsigned p)
{
	const struct sockaddr_storage ss = address(text, p);

	return fiber_connect(fd, (const struct sockaddr *)&ss, size_of(&ss), FIBER_FOREVER);
}

static inline ssize_t send_text(int fd, const char *text, const char *to, unsigned p)
{
	const struct sockaddr_storage ss = address(to, p);

	return fiber_sendto(fd, text, strlen(text), 0, (const struct sockaddr *)&ss, size_of(&ss),
			    FIBER_FOREVER);
}

static inline void set(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof value) < 0)
		say_result("setsockopt", -1);
}

/* Listens with SO_REUSEADDR, because connections of an earlier body may be in TIME_WAIT. */
static inline int listen_at(const char *text, unsigned p, int backlog)
{
	const int fd = open_socket(strchr(text, ':') ? AF_INET6 : AF_INET, SOCK_STREAM);

	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind_to(fd, text, p) < 0 || listen(fd, backlog) < 0)
		fiber_test_fail("%s:%u: %s", text, p, strerror(errno));
	return fd;
}

struct pair {
	int client, server;
};

static inline struct pair connect_pair(void)
{
	const int listener = listen_at("127.0.0.1", port, 10);
	struct pair p = {open_socket(AF_INET, SOCK_STREAM), -1};

	if (connect_to(p.client, "127.0.0.1", port) != 0)
		fiber_test_fail("connect");
	p.server = fiber_accept(listener, NULL, NULL, FIBER_FOREVER);
	fiber_test_assert(p.server >= 0);
	fiber_close(listener);
	return p;
}

static inline void close_pair(struct pair p)
{
	fiber_close(p.client);
	fiber_close(p.server);
}

/* What poll(2) says now, in words. */
static inline void say_ready(const char *what, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP | POLLPRI};

	poll(&p, 1, 0);
	say("%s:%s%s%s%s%s\n", what, p.revents & POLLIN ? " in" : "",
	    p.revents & POLLOUT ? " out" : "", p.revents & POLLRDHUP ? " rdhup" : "",
	    p.revents & POLLHUP ? " hup" : "", p.revents & POLLERR ? " err" : "");
}

static void (*body)(void);

static inline void *run_body(void *arg)
{
	body();
	return arg;
}

static inline void run_in_schedule(void *arg)
{
	size_t i = 0, line = 0;

	(void)arg;
	notes = heard;
	heard[0] = 0;
	body();
	for (; heard[i] && heard[i] == expected[i]; i++)
		if (heard[i] == '\n')
			line = i + 1;
	if (heard[i] != expected[i])
		fiber_test_fail("the system says '%.*s', the schedule '%.*s'",
				(int)strcspn(expected + line, "\n"), expected + line,
				(int)strcspn(heard + line, "\n"), heard + line);
}

static inline void explore(fiber_test_fn *fn, uint64_t schedules)
{
	const struct fiber_test_options options = {
		.size = sizeof options, .schedules = schedules, .slack = -1};
	struct fiber_test_result result = {.size = sizeof result};

	fiber_test_explore(fn, NULL, &options, &result);
	assert_string_equal(result.message, "");
	assert_int_equal(result.verdict, FIBER_TEST_PASSED);
}

static inline struct fiber_test_result explore_with(fiber_test_fn *fn, uint64_t schedules,
						    const char *strategy)
{
	const struct fiber_test_options options = {
		.size = sizeof options, .schedules = schedules, .strategy = strategy, .slack = -1};
	struct fiber_test_result result = {.size = sizeof result};

	assert_true(fiber_test_explore(fn, NULL, &options, &result) >= 0);
	return result;
}

static inline void compare(void (*fn)(void))
{
	body = fn;
	notes = expected;
	expected[0] = 0;
	assert_int_equal(fiber_run(run_body, NULL, NULL, NULL), 0);
	assert_true(strlen(expected) > 50 && strlen(expected) < ROOM - 1);
	explore(run_in_schedule, 20);
}

#define COMPARED(name)                                      \
	static void test_##name##_as_loopback(void **state) \
	{                                                   \
		(void)state;                                \
		compare(body_##name);                       \
	}

#define COMPARED_V6(name)                                   \
	static void test_##name##_as_loopback(void **state) \
	{                                                   \
		(void)state;                                \
		if (!has_v6())                              \
			skip();                             \
		compare(body_##name);                       \
	}

static inline bool has_v6(void)
{
	const int fd = socket(AF_INET6, SOCK_STREAM, 0);
	const bool has = fd >= 0 && bind_to(fd, "::1", 0) == 0;

	if (fd >= 0)
		close(fd);
	return has;
}

static inline int find_port(void **state)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at;
	socklen_t size = sizeof at;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	if (fd < 0 || bind_to(fd, "127.0.0.1", 0) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &size) < 0)
		return -1;
	port = ntohs(at.sin_port);
	close(fd);
	return 0;
}

#endif
