/* SPDX-License-Identifier: MIT */
/*
 * server.c - a hundred connections a carrier; each request takes 5 us to answer
 *
 * Requests are to keep seven carriers of ten busy. They do not wait for answers, so a server that
 * falls behind shows it. A delay lasts from the arrival of a request to its answer.
 *
 * The dispatch of events is this file's own; libfiber's looks up descriptors, of which there are
 * none.
 */
#include <fiber.h>

#include "bench/model/counts.h"
#include "bench/model/machine.h"
#include "bench/model/network.h"
#include "bench/model/works/works.h"
#include "bench/work.h"
#include "sched/sched.h"

#define EACH	 100	 /* connections a carrier */
#define REQUESTS 1000	 /* a carrier */
#define FIRST	 500	 /* a carrier, before that: carriers wake one after another */
#define NS	 5000	 /* to answer one */
#define BUSY	 70	 /* percent */
#define PAUSE	 1000000 /* ns between two looks whether all connections wait */

static struct {
	unsigned count;
	long first, requests; /* first: those that are not measured */
	struct fiber *main;
} server;

static void dispatch(const struct fib_poll_event *events, int n)
{
	for (int i = 0; i < n; i++)
		fiber_unpark((struct fiber *)(uintptr_t)events[i].token);
}

static void *serve(void *arg)
{
	const unsigned connection = (unsigned)(uintptr_t)arg;
	long answered;

	fib_network_open();
	for (;;) {
		const int64_t arrived = fib_network_take(connection);

		if (arrived < 0) {
			fiber_park(FIBER_FOREVER);
			continue;
		}
		fib_model_compute(NS);
		fib_counts_delay(fib_model_now() - arrived);
		answered = fib_network_answer();
		if (answered == server.first)
			fib_counts_begin();
		else if (answered == server.requests)
			fiber_unpark(server.main);
	}
	return NULL;
}

void model_server(unsigned carriers)
{
	struct fib_sched *s = fib_carrier_self()->sched;
	void **fibers;

	server.count = EACH * carriers;
	server.first = (long)carriers * FIRST;
	server.requests = server.first + (long)carriers * REQUESTS;
	server.main = fiber_self();
	fibers = calloc(server.count, sizeof *fibers);
	s->dispatch = dispatch;
	for (uintptr_t i = 0; i < server.count; i++)
		if (fiber_spawn(serve, (void *)i, (struct fiber **)&fibers[i]))
			work_die("fiber_spawn");
	while (fib_network_opened() < server.count)
		fiber_sleep(PAUSE);
	fib_network_begin(server.count, fibers, fib_model_now(), NS * EACH * 100 / BUSY,
			  server.requests);
	fib_store(&s->watching, 1);
	/* The carrier in the poller does not wait for requests yet. */
	s->poller->ops->wake(s->poller);
	fiber_park(FIBER_FOREVER);
	fib_counts_end(server.requests - server.first);
}
