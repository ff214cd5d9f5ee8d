/* SPDX-License-Identifier: MIT */
/*
 * 06_echo.c - a server with a fiber for each connection, and a client
 *
 * Plain descriptors and loops: where read(2) would block the thread, fiber_read() parks the fiber.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fiber.h>

static void *echo(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char text[512];
	ssize_t n, sent = 0;

	while (sent >= 0 && (n = fiber_read(fd, text, sizeof(text), FIBER_FOREVER)) > 0)
		for (ssize_t at = 0; at < n && sent >= 0; at += sent) /* counts may be short */
			sent = fiber_write(fd, text + at, (size_t)(n - at), FIBER_FOREVER);
	fiber_close(fd);
	return NULL;
}

static void *serve(void *arg)
{
	struct fiber_group connections = {.name = "connections"};
	int fd, listener = *(int *)arg;

	while ((fd = fiber_accept(listener, NULL, NULL, FIBER_FOREVER)) >= 0)
		if (fiber_group_spawn(&connections, echo, (void *)(intptr_t)fd) < 0)
			fiber_close(fd);
	/* Serve the open connections to their end. */
	fiber_group_wait(&connections, FIBER_FOREVER);
	printf("the server ends: %s\n", fd == -EBADF ? "its socket was closed" : "error");
	return NULL;
}

static int ask(const struct sockaddr_in *server, char *answer, size_t size)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int64_t deadline = fiber_after(10 * INT64_C(1000000000)); /* for all calls below */
	ssize_t n = fiber_connect(fd, (const struct sockaddr *)server, sizeof(*server), deadline);

	if (n == 0)
		n = fiber_write(fd, "hello", 5, deadline);
	if (n == 5)
		n = fiber_read(fd, answer, size - 1, deadline);
	answer[n > 0 ? n : 0] = 0;
	fiber_close(fd);
	return n < 0 ? (int)n : 0;
}

static void *start(void *arg)
{
	struct sockaddr_in here = {.sin_family = AF_INET};
	socklen_t size = sizeof(here);
	int listener = socket(AF_INET, SOCK_STREAM, 0), rc;
	struct fiber *server;
	char answer[64];

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&here, size) < 0 || listen(listener, 16) < 0 ||
	    getsockname(listener, (struct sockaddr *)&here, &size) < 0)
		fiber_fail(-EADDRNOTAVAIL, "no port on loopback");
	rc = fiber_spawn(serve, &listener, &server);
	if (rc < 0)
		fiber_fail(rc, "cannot spawn");
	rc = ask(&here, answer, sizeof(answer));
	if (rc < 0)
		printf("no answer: %s\n", strerror(-rc));
	else
		printf("the server says: %s\n", answer);
	fiber_close(listener); /* wakes the fiber that accepts */
	fiber_join(server, NULL, FIBER_FOREVER);
	return arg;
}

int main(void)
{
	struct fiber_result result = {NULL, 0};

	return fiber_run(start, NULL, NULL, &result) < 0 || result.error < 0;
}
