/* SPDX-License-Identifier: MIT */
/*
 * poller.c - a poller whose descriptors become ready in virtual time; in place of
 * libfiber/poll/choose.c
 */
#include <stdbool.h>
#include <stddef.h>

#include "bench/model/costs.h"
#include "bench/model/engine.h"
#include "bench/model/machine.h"
#include "poll/choose.h"

const struct fib_model_source *fib_model_source;

static struct {
	struct fib_poller base;
	bool woken; /* the present wait, or the next one, ends */
} poller;

static int take(struct fib_poll_event *events, int max)
{
	const int n = fib_model_source ? fib_model_source->take(fib_cpu->now / NS, events, max) : 0;

	fib_engine_pass(n * COST_EVENT);
	return n;
}

/* ps */
static int64_t end_of_wait(int64_t deadline)
{
	const int64_t next = fib_model_source ? fib_model_source->next() : INT64_MAX;
	const int64_t end = next < deadline ? next : deadline;

	return end > INT64_MAX / NS ? INT64_MAX : end * NS;
}

static int wait_for(struct fib_poller *p, struct fib_poll_event *events, int max, int64_t deadline)
{
	int n;

	fib_engine_pass(COST_CALL);
	fib_engine_sync();
	n = take(events, max);
	if (n || !deadline)
		return n;
	if (!poller.woken)
		fib_engine_block(p, end_of_wait(deadline));
	poller.woken = false;
	return take(events, max);
}

static void wake(struct fib_poller *p)
{
	fib_engine_sync();
	poller.woken = true;
	fib_engine_pass(fib_engine_wake(p, 1) ? COST_WAKE : COST_CALL);
}

static int watch(struct fib_poller *p, int fd, uint64_t token)
{
	(void)p;
	(void)fd;
	(void)token;
	return -1;
}

static int forget(struct fib_poller *p, int fd)
{
	(void)p;
	(void)fd;
	return -1;
}

static void close_it(struct fib_poller *p)
{
	(void)p;
}

int fib_poller_choose(struct fib_poller **ret, struct fib_poller_note *ret_note)
{
	static const struct fib_poller_ops ops = {
		.name = "model",
		.close = close_it,
		.watch = watch,
		.forget = forget,
		.wait = wait_for,
		.wake = wake,
	};

	poller.base.ops = &ops;
	ret_note->text[0] = 0;
	*ret = &poller.base;
	return 0;
}
