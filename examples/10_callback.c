/* SPDX-License-Identifier: MIT */
/*
 * 10_callback.c - wait for a library that does not know fibers
 *
 * The library measures on its own thread. If it has a callback, the fiber parks and the callback
 * unparks it. If it only sets a flag, fiber_wait_until() polls the flag, less and less often.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <fiber.h>

struct measurement {
	void (*done)(struct measurement *m); /* called on the library's thread */
	struct fiber *asker;
	_Atomic int ready;
	int value;
};

/* The library. */
static void *measure(void *arg)
{
	struct measurement *m = arg;

	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	m->value = 42;
	m->done(m);
	return NULL;
}

static int begin(struct measurement *m, pthread_t *thread)
{
	return pthread_create(thread, NULL, measure, m);
}

static void wake(struct measurement *m)
{
	struct fiber *asker = m->asker;

	m->ready = 1;
	fiber_unpark(asker); /* early or late: one token is kept */
}

static void *parks(void *arg)
{
	struct measurement m = {.done = wake, .asker = fiber_self()};
	pthread_t thread;

	if (begin(&m, &thread))
		fiber_fail(-EAGAIN, "no thread");
	while (!m.ready) /* an earlier fiber_unpark() may have left a token */
		fiber_park(FIBER_FOREVER);
	printf("called back: %d\n", m.value);
	pthread_join(thread, NULL); /* it has ended or is about to */
	return arg;
}

static void set_flag(struct measurement *m)
{
	m->ready = 1;
}

static bool is_ready(void *arg)
{
	return ((struct measurement *)arg)->ready;
}

static void *polls(void *arg)
{
	struct measurement m = {.done = set_flag};
	pthread_t thread;

	if (begin(&m, &thread))
		fiber_fail(-EAGAIN, "no thread");
	fiber_wait_until(is_ready, &m, FIBER_FOREVER);
	printf("flag seen: %d\n", m.value);
	pthread_join(thread, NULL);
	return arg;
}

int main(void)
{
	return fiber_run(parks, NULL, NULL, NULL) < 0 || fiber_run(polls, NULL, NULL, NULL) < 0;
}
