/* SPDX-License-Identifier: MIT */
/*
 * stress_accept.c - connections that open and close, so that descriptor numbers are reused
 *
 * Clients connect, send a number, and wait for that number plus one, with and without deadlines. A
 * client whose deadline has passed hangs up, and one actor shuts connections down while others read
 * them. An edge of an old connection that reaches a new one, or a lost edge, leaves a client or a
 * server waiting forever.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/stress/stress.h"

#define SEATS 16

static struct sockaddr_un address;
static socklen_t address_length;
static int door;
static _Atomic bool shut;
static _Atomic unsigned serving;

/* Connections that may be shut down; a seat is cleared before its connection is closed. */
static struct {
	_Atomic int lock;
	int fd; /* under the lock; 0: none */
} seats[SEATS];

static int take_seat(int fd)
{
	int i;

	for (i = 0; i < SEATS; i++) {
		bool mine;

		stress_guard(&seats[i].lock);
		mine = !seats[i].fd;
		if (mine)
			seats[i].fd = fd;
		stress_unguard(&seats[i].lock);
		if (mine)
			return i;
	}
	return -1;
}

static void leave_seat(int i)
{
	if (i < 0)
		return;
	stress_guard(&seats[i].lock);
	seats[i].fd = 0;
	stress_unguard(&seats[i].lock);
}

static void *serve(void *arg)
{
	const int fd = (int)(intptr_t)arg, seat = take_seat(fd);
	uint64_t number;

	while (fiber_read(fd, &number, sizeof number, FIBER_FOREVER) == sizeof number) {
		number++;
		if (fiber_write(fd, &number, sizeof number, FIBER_FOREVER) != sizeof number)
			break;
	}
	leave_seat(seat);
	fiber_close(fd);
	serving--;
	return NULL;
}

static void let_in(struct stress_actor *a)
{
	while (!shut) {
		int fd;

		stress_at(a, "fiber_accept");
		fd = fiber_accept(door, NULL, NULL, stress_deadline(a));
		if (fd >= 0) {
			serving++;
			stress_spawn("serve", serve, (void *)(intptr_t)fd, NULL);
		} else if (!shut) {
			stress_expect(fd, "fiber_accept");
		}
	}
}

/* False: hang up. */
static bool ask(struct stress_actor *a, int fd)
{
	const uint64_t number = stress_rand(a, 1000000);
	uint64_t answer = 0;
	ssize_t n;

	/* The server may have been shut down: no SIGPIPE. */
	if (send(fd, &number, sizeof number, MSG_NOSIGNAL) != sizeof number)
		return false;
	n = fiber_read(fd, &answer, sizeof answer, stress_deadline(a));
	if (n == sizeof answer && answer != number + 1)
		stress_wrong("%llu came back as %llu", (unsigned long long)number,
			     (unsigned long long)answer);
	if (n < 0 && n != -ECONNRESET)
		stress_expect((int)n, "fiber_read");
	return n == sizeof answer;
}

static void call_on(struct stress_actor *a)
{
	while (stress_on(a, "connects, asks and waits")) {
		const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int rc, i;

		if (fd < 0)
			stress_wrong("no socket");
		rc = fiber_connect(fd, (struct sockaddr *)&address, address_length, FIBER_FOREVER);
		if (rc == -EAGAIN)
			fiber_sleep(100000); /* the backlog is full */
		else
			stress_expect(rc, "fiber_connect");
		for (i = 0; rc == 0 && i < 8; i++) {
			stress_at(a, "waits for an answer");
			if (!ask(a, fd))
				break;
		}
		fiber_close(fd);
	}
}

static void throw_out(struct stress_actor *a)
{
	while (stress_on(a, "shuts a connection down")) {
		const unsigned i = stress_rand(a, SEATS);

		stress_guard(&seats[i].lock);
		if (seats[i].fd)
			shutdown(seats[i].fd, SHUT_RDWR);
		stress_unguard(&seats[i].lock);
		fiber_sleep(stress_rand(a, 300000));
	}
	shut = true;
	fiber_close(door);
	while (serving) {
		stress_at(a, "waits for the last guests");
		fiber_sleep(1000000);
	}
}

static void begin(void)
{
	static unsigned number;

	memset(seats, 0, sizeof seats);
	memset(&address, 0, sizeof address);
	shut = false;
	serving = 0;
	address.sun_family = AF_UNIX;
	/* An abstract socket address. */
	snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "fiber-stress-%d-%u", getpid(),
		 number++);
	address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				     strlen(address.sun_path + 1));
	door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (door < 0 || bind(door, (struct sockaddr *)&address, address_length) < 0 ||
	    listen(door, 128) < 0)
		stress_wrong("no socket to listen on");
	stress_add("client", 0, 8, call_on, NULL);
	stress_add("client-mortal", STRESS_MORTAL, 4, call_on, NULL);
	stress_add("client-thread", STRESS_THREAD, 1, call_on, NULL);
	stress_add("accept", STRESS_SERVER, 2, let_in, NULL);
	stress_add("throw-out", STRESS_SERVER, 1, throw_out, NULL);
}

const struct stress_theme stress_accept = {"accept", begin, NULL};
