/* SPDX-License-Identifier: MIT */
/* 23_test_io.c - test a server and its client in every order: run it, then run it with "bug". */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <fiber.h>
#include <fiber/test.h>

#define SECOND INT64_C(1000000000)

/* A message is eight bytes. A stream may give them in pieces: the bug expects them at once. */
static ssize_t receive_hastily(int fd, char *message)
{
	return fiber_recv(fd, message, 8, 0, fiber_after(SECOND));
}

static ssize_t receive_patiently(int fd, char *message)
{
	return fiber_read_full(fd, message, 8, fiber_after(SECOND));
}

struct server {
	int listener;
	ssize_t (*receive)(int fd, char *message);
};

static void *serve(void *arg)
{
	struct server *s = arg;
	const int fd = fiber_accept(s->listener, NULL, NULL, FIBER_FOREVER);
	char message[8];

	fiber_test_assert(fd >= 0);
	fiber_test_assert(s->receive(fd, message) == 8);
	fiber_test_assert(memcmp(message, "GET five", 8) == 0);
	fiber_write_full(fd, "5", 1, FIBER_FOREVER);
	fiber_close(fd);
	return NULL;
}

/* The port belongs to this schedule alone; nothing leaves the process. */
static struct sockaddr_in place(void)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(8080),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void ask(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_in at = place();
	char answer = 0;

	fiber_test_assert(
		fiber_connect(fd, (const struct sockaddr *)&at, sizeof(at), FIBER_FOREVER) == 0);
	fiber_write_full(fd, "GET ", 4, FIBER_FOREVER);
	fiber_write_full(fd, "five", 4, FIBER_FOREVER);
	fiber_test_assert(fiber_read(fd, &answer, 1, fiber_after(SECOND)) == 1 && answer == '5');
	fiber_close(fd);
}

static void run(struct server *s)
{
	const struct sockaddr_in at = place();
	struct fiber *server;

	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fiber_test_assert(bind(s->listener, (const struct sockaddr *)&at, sizeof(at)) == 0);
	fiber_test_assert(listen(s->listener, 10) == 0);
	fiber_spawn(serve, s, &server);
	ask();
	fiber_join(server, NULL, FIBER_FOREVER);
	fiber_close(s->listener);
}

static void test_bug(void *arg)
{
	(void)arg;
	run(&(struct server){.receive = receive_hastily});
}

static void test_fixed(void *arg)
{
	(void)arg;
	run(&(struct server){.receive = receive_patiently});
}

int main(int argc, char **argv)
{
	static const struct fiber_test_case cases[] = {
		{"fixed", test_fixed, NULL, NULL},
		{"bug", test_bug, NULL, NULL},
	};

	/* Without a name only the first case is run. */
	return fiber_test_main(argc, argv, cases, argc > 1 ? 2 : 1);
}
