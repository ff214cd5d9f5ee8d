/* SPDX-License-Identifier: MIT */
/*
 * test_echo.c - schedules a second of an echo over in-process sockets
 *
 * A schedule: a server listens, accepts and sends 1 KiB back; a client connects, sends, receives,
 * and sees the end of the stream. REPEATS runs of SCHEDULES schedules; the median and the extremes. A
 * second is one of CPU, so that other programs of the machine do not count.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <fiber.h>
#include <fiber/test.h>

#define SCHEDULES 20000u
#define REPEATS	  7
#define SIZE	  1024

static int open_socket(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fiber_test_assert(fd >= 0);
	return fd;
}

static void *serve(void *arg)
{
	const int listener = *(int *)arg;
	const int fd = fiber_accept(listener, NULL, NULL, FIBER_FOREVER);
	char bytes[SIZE];

	fiber_test_assert(fd >= 0);
	fiber_test_assert(fiber_read_full(fd, bytes, SIZE, FIBER_FOREVER) == SIZE);
	fiber_test_assert(fiber_write_full(fd, bytes, SIZE, FIBER_FOREVER) == SIZE);
	fiber_close(fd);
	return NULL;
}

static void echo(void *arg)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
				       .sin_port = htons(8080),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = open_socket(), fd = open_socket();
	const int on = 1;
	struct fiber *server;
	char bytes[SIZE] = "";

	(void)arg;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	fiber_test_assert(bind(listener, (const struct sockaddr *)&at, sizeof at) == 0);
	fiber_test_assert(listen(listener, 10) == 0);
	fiber_spawn(serve, &listener, &server);
	fiber_test_assert(
		fiber_connect(fd, (const struct sockaddr *)&at, sizeof at, FIBER_FOREVER) == 0);
	fiber_test_assert(fiber_write_full(fd, bytes, SIZE, FIBER_FOREVER) == SIZE);
	fiber_test_assert(fiber_read_full(fd, bytes, SIZE, FIBER_FOREVER) == SIZE);
	fiber_test_assert(fiber_read(fd, bytes, SIZE, FIBER_FOREVER) == 0);
	fiber_join(server, NULL, FIBER_FOREVER);
	fiber_close(fd);
	fiber_close(listener);
}

/* s of CPU of the processes that were waited for: those that run schedules. */
static double cpu_of_children(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	const struct fiber_test_options options = {
		.size = sizeof options, .strategy = "random", .schedules = SCHEDULES};
	struct fiber_test_result result = {.size = sizeof result};
	double rates[REPEATS], start;
	int i;

	for (i = 0; i < REPEATS; i++) {
		start = cpu_of_children();
		if (fiber_test_explore(echo, NULL, &options, &result) != 0) {
			fprintf(stderr, "test_echo: %s\n", result.message);
			return 1;
		}
		rates[i] = (double)result.schedules / (cpu_of_children() - start);
	}
	qsort(rates, REPEATS, sizeof *rates, ascending);
	printf("echo of %d bytes, %u choices: median %.0f schedules a second of CPU (%.0f to "
	       "%.0f)\n",
	       SIZE, result.choices, rates[REPEATS / 2], rates[0], rates[REPEATS - 1]);
	return 0;
}
