/* SPDX-License-Identifier: MIT */
/* fibers.c - what a scheduler does all day, on one carrier: yield, spawn, hand over, lock. */
#include <fiber/chan.h>

#include "bench/libfiber/bench.h"

struct load {
	long count, fibers;
};

static void spawn(fiber_fn *fn, void *arg, struct fiber **ret)
{
	if (fiber_spawn(fn, arg, ret))
		work_die("fiber_spawn");
}

static struct fiber **room_for(long n)
{
	struct fiber **room = calloc((size_t)n, sizeof(struct fiber *));

	if (!room)
		work_die("calloc");
	return room;
}

/* -- yield: every fiber yields the same number of times -- */

static void *yielder(void *arg)
{
	long rounds = *(long *)arg;

	while (rounds-- > 0)
		fiber_yield();
	return NULL;
}

static void *yield_main(void *arg)
{
	const struct load *load = arg;
	long rounds = load->count / load->fibers;
	struct fiber **fibers = room_for(load->fibers);
	double cpu;

	for (long i = 0; i < load->fibers; i++)
		spawn(yielder, &rounds, &fibers[i]);
	cpu = work_cpu();
	for (long i = 0; i < load->fibers; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	work_report("ns", (work_cpu() - cpu) / (double)(rounds * load->fibers));
	free(fibers);
	return NULL;
}

void bench_yield(long count, long fibers)
{
	struct load load = {count, fibers};

	bench_run(yield_main, &load, 1);
}

/* -- spawn, run, join: rounds of so many at once; the first one brings the stacks in -- */

static void *nothing(void *arg)
{
	return arg;
}

static void *spawn_main(void *arg)
{
	const struct load *load = arg;
	long rounds = load->count / load->fibers;
	struct fiber **fibers = room_for(load->fibers);
	double cpu = 0;

	for (long r = -1; r < rounds; r++) {
		if (!r)
			cpu = work_cpu();
		for (long i = 0; i < load->fibers; i++)
			spawn(nothing, NULL, &fibers[i]);
		for (long i = 0; i < load->fibers; i++)
			fiber_join(fibers[i], NULL, FIBER_FOREVER);
	}
	work_report("ns", (work_cpu() - cpu) / (double)(rounds * load->fibers));
	free(fibers);
	return NULL;
}

void bench_spawn(long count, long live)
{
	struct load load = {count, live};

	bench_run(spawn_main, &load, 1);
}

/* -- ping-pong over a mutex and a condition: a message each way -- */

static struct fiber_mutex table;
static struct fiber_cond turned;
static int turn;

static void play(int me, long messages)
{
	fiber_mutex_lock(&table, FIBER_FOREVER);
	while (messages-- > 0) {
		while (turn != me)
			fiber_cond_wait(&turned, &table, FIBER_FOREVER);
		turn = !me;
		fiber_cond_signal(&turned);
	}
	fiber_mutex_unlock(&table);
}

static void *player(void *arg)
{
	play(1, *(long *)arg);
	return NULL;
}

static void *cond_main(void *arg)
{
	long messages = *(long *)arg / 2;
	struct fiber *other;
	double cpu;

	spawn(player, &messages, &other);
	cpu = work_cpu();
	play(0, messages);
	fiber_join(other, NULL, FIBER_FOREVER);
	work_report("ns", (work_cpu() - cpu) / (double)(messages * 2));
	return NULL;
}

void bench_cond(long count, long arg)
{
	(void)arg;
	bench_run(cond_main, &count, 1);
}

/* -- the same over two channels without room: a sender waits for its receiver -- */

static struct fiber_chan *there, *back;

static void *echo(void *arg)
{
	long message;

	while (!fiber_chan_recv(there, &message, FIBER_FOREVER))
		fiber_chan_send(back, &message, FIBER_FOREVER);
	return arg;
}

static void *channel_main(void *arg)
{
	long messages = *(long *)arg / 2, answer = 0;
	struct fiber *other;
	double cpu;

	if (fiber_chan_new(sizeof(long), 0, &there) || fiber_chan_new(sizeof(long), 0, &back))
		work_die("fiber_chan_new");
	spawn(echo, NULL, &other);
	cpu = work_cpu();
	for (long i = 0; i < messages; i++) {
		fiber_chan_send(there, &i, FIBER_FOREVER);
		fiber_chan_recv(back, &answer, FIBER_FOREVER);
	}
	work_report("ns", (work_cpu() - cpu) / (double)(messages * 2));
	fiber_chan_close(there);
	fiber_join(other, NULL, FIBER_FOREVER);
	fiber_chan_unref(there);
	fiber_chan_unref(back);
	return NULL;
}

void bench_channel(long count, long arg)
{
	(void)arg;
	bench_run(channel_main, &count, 1);
}

/* -- lock and unlock what nobody else wants -- */

static void *mutex_main(void *arg)
{
	long count = *(long *)arg;
	double cpu = work_cpu();

	for (long i = 0; i < count; i++) {
		fiber_mutex_lock(&table, FIBER_FOREVER);
		fiber_mutex_unlock(&table);
	}
	work_report("ns", (work_cpu() - cpu) / (double)count);
	return NULL;
}

void bench_mutex(long count, long arg)
{
	(void)arg;
	bench_run(mutex_main, &count, 1);
}
