/* SPDX-License-Identifier: MIT */
/*
 * 16_event_loop.c - fibers inside a program that has its own event loop
 *
 * An idle carrier calls the program's loop instead of waiting itself. The loop waits for its own
 * events, here bytes in a pipe, and for the runtime's descriptor. One carrier means one thread.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <fiber.h>

static int events[2]; /* a pipe: the source of the program's own events */
static struct fiber_sem keys = {.name = "keys"};

/* One turn of the loop. It is not a fiber. Fibers that it wakes run after it has returned. */
static int turn(void *arg, int64_t deadline)
{
	struct pollfd fds[] = {{fiber_runtime_fd(NULL), POLLIN, 0}, {events[0], POLLIN, 0}};
	int64_t left = deadline == FIBER_FOREVER ? -1 : (deadline - fiber_now()) / 1000000 + 1;
	char key;

	(void)arg;
	poll(fds, 2, left > 1000000 ? 1000000 : (int)left); /* it may return earlier */
	if (fds[1].revents & POLLIN && read(events[0], &key, 1) == 1)
		fiber_sem_post(&keys);
	return 0;
}

static void *wait_for_keys(void *arg)
{
	for (int i = 1; i <= 3; i++) {
		fiber_sem_wait(&keys, FIBER_FOREVER);
		printf("key %d\n", i);
	}
	return arg;
}

static void *type(void *arg)
{
	for (int i = 0; i < 3; i++) {
		usleep(5000);
		if (write(events[1], "k", 1) != 1)
			break;
	}
	return arg;
}

int main(void)
{
	struct fiber_runtime_options options = {
		.size = sizeof(options), .carriers = 1, .idle = turn};
	pthread_t typist;
	int rc;

	if (pipe(events) < 0 || pthread_create(&typist, NULL, type, NULL))
		return 1;
	rc = fiber_run(wait_for_keys, NULL, &options, NULL);
	pthread_join(typist, NULL);
	return rc < 0;
}
