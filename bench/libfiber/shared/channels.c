/* SPDX-License-Identifier: MIT */
/* channels.c - channels between fibers on several carriers; an operation is an element */
#include <fiber/chan.h>

#include "bench/libfiber/shared/shared.h"

/* -- one channel: senders and receivers, as many of each -- */

struct queue {
	long count, capacity, ends;
};

static struct fiber_chan *chan;
static _Atomic long received;

static void *sends(void *arg)
{
	for (long i = 0; i < bench_turns; i++)
		fiber_chan_send(chan, &i, FIBER_FOREVER);
	return arg;
}

static void *receives(void *arg)
{
	long elem, n = 0;

	while (!fiber_chan_recv(chan, &elem, FIBER_FOREVER))
		n++;
	received += n;
	return arg;
}

static void *queue_main(void *arg)
{
	const struct queue *q = arg;
	struct fiber *receivers[ENDS];

	bench_turns = q->count / q->ends;
	if (fiber_chan_new(sizeof(long), (size_t)q->capacity, &chan))
		work_die("fiber_chan_new");
	for (long i = 0; i < q->ends; i++)
		receivers[i] = bench_start(receives, NULL);
	bench_race(sends, q->ends);
	fiber_chan_close(chan);
	for (long i = 0; i < q->ends; i++)
		bench_finish(receivers[i]);
	fiber_chan_unref(chan);
	if (received != bench_turns * q->ends)
		work_die("the count of elements");
	return NULL;
}

static void queue_run(long count, long capacity, long ends, long carriers)
{
	struct queue q = {count, capacity, ends};

	bench_run(queue_main, &q, (unsigned)carriers);
}

void bench_shared_queue_0(long count, long carriers)
{
	queue_run(count, 0, ENDS, carriers);
}

void bench_shared_queue_16(long count, long carriers)
{
	queue_run(count, 16, ENDS, carriers);
}

void bench_shared_queue_1024(long count, long carriers)
{
	queue_run(count, 1024, ENDS, carriers);
}

void bench_shared_pipe_0(long count, long carriers)
{
	queue_run(count, 0, 1, carriers);
}

void bench_shared_pipe_16(long count, long carriers)
{
	queue_run(count, 16, 1, carriers);
}

/* -- two channels without room: a sender uses one of them, a receiver selects over both -- */

static struct fiber_chan *pair[2];

static void *sends_to_one(void *arg)
{
	for (long i = 0; i < bench_turns; i++)
		fiber_chan_send(pair[(intptr_t)arg % 2], &i, FIBER_FOREVER);
	return arg;
}

static void *selects(void *arg)
{
	long elem;
	struct fiber_select_case cases[2];

	for (long i = 0; i < bench_turns; i++) {
		for (int k = 0; k < 2; k++)
			cases[k] = (struct fiber_select_case){
				.op = FIBER_SELECT_RECV, .chan = pair[k], .elem = &elem};
		if (fiber_select(cases, 2, FIBER_FOREVER) < 0)
			work_die("fiber_select");
	}
	return arg;
}

static void *select_main(void *arg)
{
	struct fiber *receivers[ENDS];

	bench_turns = *(long *)arg / ENDS;
	if (fiber_chan_new(sizeof(long), 0, &pair[0]) || fiber_chan_new(sizeof(long), 0, &pair[1]))
		work_die("fiber_chan_new");
	for (long i = 0; i < ENDS; i++)
		receivers[i] = bench_start(selects, NULL);
	bench_race(sends_to_one, ENDS);
	for (long i = 0; i < ENDS; i++)
		bench_finish(receivers[i]);
	fiber_chan_unref(pair[0]);
	fiber_chan_unref(pair[1]);
	return NULL;
}

void bench_shared_select(long count, long carriers)
{
	bench_run(select_main, &count, (unsigned)carriers);
}
