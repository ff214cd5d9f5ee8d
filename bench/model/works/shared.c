/* SPDX-License-Identifier: MIT */
/*
 * shared.c - ten senders and ten receivers a carrier on one channel of 16 places
 *
 * Nothing is computed, so the channel is busy all the time. An operation is an element; its delay
 * lasts from the start of the send to the end of the receive.
 */
#include <fiber.h>
#include <fiber/chan.h>

#include "bench/model/counts.h"
#include "bench/model/machine.h"
#include "bench/model/works/works.h"
#include "bench/work.h"

#define ENDS	 10 /* a carrier */
#define ELEMENTS 64000
#define PLACES	 16

static struct fiber_chan *chan;
static long each;

static void *sends(void *arg)
{
	for (long i = 0; i < each; i++) {
		const int64_t now = fib_model_now();

		fiber_chan_send(chan, &now, FIBER_FOREVER);
	}
	return arg;
}

static void *receives(void *arg)
{
	int64_t sent;

	for (long i = 0; i < each; i++) {
		fiber_chan_recv(chan, &sent, FIBER_FOREVER);
		fib_counts_delay(fib_model_now() - sent);
	}
	return arg;
}

void model_shared(unsigned carriers)
{
	const unsigned n = 2 * ENDS * carriers;
	struct fiber **fibers = calloc(n, sizeof(struct fiber *));

	each = ELEMENTS / ENDS / (long)carriers;
	if (fiber_chan_new(sizeof(int64_t), PLACES, &chan))
		work_die("fiber_chan_new");
	fib_counts_begin();
	for (unsigned i = 0; i < n; i++)
		if (fiber_spawn(i % 2 ? receives : sends, NULL, &fibers[i]))
			work_die("fiber_spawn");
	for (unsigned i = 0; i < n; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	fib_counts_end(each * ENDS * (long)carriers);
}
