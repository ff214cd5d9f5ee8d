/* SPDX-License-Identifier: MIT */
/* accepted.h - a loopback connection from fiber_accept(), and a fiber that reads from it */
#ifndef TESTS_UNIT_IO_ACCEPTED_H
#define TESTS_UNIT_IO_ACCEPTED_H

#include "inside.h"

#include <arpa/inet.h>

#include "io/table.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

static int listener, client, server;

static inline void *do_accept(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_accept(listener, NULL, NULL, FIBER_FOREVER);
}

static inline int connect_both(void **state)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	socklen_t size = sizeof to;

	(void)state;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&to, size) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&to, &size) < 0 ||
	    connect(client, (struct sockaddr *)&to, size) < 0)
		return -1;
	server = (int)inside(do_accept, NULL);
	return server < 0 ? -1 : 0;
}

static inline void *do_close(void *arg)
{
	return (void *)(intptr_t)fiber_close(*(int *)arg);
}

static inline int disconnect_both(void **state)
{
	(void)state;
	close(client);
	close(listener);
	return (int)inside(do_close, &server);
}

struct reading {
	size_t size;
	int64_t deadline;
	char bytes[64];
};

static inline void *do_read(void *arg)
{
	struct reading *r = arg;

	return (void *)(intptr_t)fiber_read(server, r->bytes, r->size, r->deadline);
}

/* Read everything that has come, with room to spare. */
static inline void drain(void)
{
	struct reading r = {sizeof r.bytes, FIBER_FOREVER, ""};

	assert_int_equal(send(client, "first", 5, 0), 5);
	assert_int_equal(inside(do_read, &r), 5);
}

static inline bool stands_in(struct fiber_wait_queue *q, const struct fiber *fiber)
{
	struct fib_waiter *w;

	fib_queue_lock(q);
	for (w = fib_queue_first(q); w && w->parker->fiber != fiber;)
		w = fib_waiter_of(w->link.next);
	fib_queue_unlock(q);
	return w != NULL;
}

/* Wait until the fiber is in its end's queue of readers; it is suspended a moment earlier. */
static inline void until_it_waits(struct fiber *fiber)
{
	while (!stands_in(&fib_descriptor_make(server)->reading.waiters, fiber))
		sched_yield();
}

#endif
