/* SPDX-License-Identifier: MIT */
/*
 * 23_posix.c - code that was written for threads runs on fibers
 *
 * answer() and ask() know nothing of fibers: they block in read(2), write(2) and usleep(3). Linked
 * with libfiber-posix, they park. Here three servers and three clients share one thread.
 *
 * The library is linked before the C library: pkg-config --libs libfiber-posix.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fiber.h>

#define PAIRS 3

/* Square what arrives, slowly, until the other end is closed. */
static void answer(int fd)
{
	int number;

	while (read(fd, &number, sizeof number) == (ssize_t)sizeof number) {
		usleep(1000);
		number *= number;
		if (write(fd, &number, sizeof number) < 0)
			break;
	}
	close(fd);
}

static int ask(int fd, int number)
{
	if (write(fd, &number, sizeof number) < 0 ||
	    read(fd, &number, sizeof number) != (ssize_t)sizeof number)
		return -1;
	return number;
}

static void *serve(void *arg)
{
	answer(*(int *)arg);
	return NULL;
}

static void *use(void *arg)
{
	const int fd = *(int *)arg;
	int i, sum = 0;

	for (i = 1; i <= 10; i++)
		sum += ask(fd, i);
	printf("1 + 4 + ... + 100 = %d\n", sum);
	close(fd);
	return NULL;
}

static void *start(void *arg)
{
	struct fiber *fibers[2 * PAIRS];
	int ends[PAIRS][2], i;

	for (i = 0; i < PAIRS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) < 0)
			fiber_fail(-1, "no sockets");
		if (fiber_spawn(serve, &ends[i][0], &fibers[2 * i]) < 0 ||
		    fiber_spawn(use, &ends[i][1], &fibers[2 * i + 1]) < 0)
			fiber_fail(-1, "no fibers");
	}
	for (i = 0; i < 2 * PAIRS; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	return arg;
}

int main(void)
{
	const struct fiber_runtime_options options = {.size = sizeof options, .carriers = 1};

	return fiber_run(start, NULL, &options, NULL) < 0;
}
