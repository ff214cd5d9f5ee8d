/* SPDX-License-Identifier: MIT */
/*
 * shared.c - fibers on several carriers that use one object: a lock, a channel, a condition
 *
 * Several threads work, so the time is wall-clock time. The CPU time shows what a carrier costs that
 * only waits or spins. Both are divided by the operations of all fibers together.
 */
#include <fiber/chan.h>

#include "bench/libfiber/bench.h"
#include "sched/counters.h"
#include "sched/sched.h"

#define MANY 100
#define ENDS 10

static long turns; /* operations of each fiber */

/* Times that a carrier of this runtime has stolen. */
static double steals(void)
{
	const struct fib_sched *s = fib_carrier_self()->sched;
	double sum = 0;

	for (unsigned i = 0; i < s->carrier_count; i++)
		sum += (double)fib_load(&s->carriers[i].counters.steals);
	return sum;
}

struct costs {
	double now, cpu, steals;
};

static struct costs costs_begin(void)
{
	return (struct costs){work_now(), work_cpu(), steals()};
}

/* Report the costs since then of each of n operations. */
static void costs_report(const struct costs *since, long n)
{
	work_report("ns", (work_now() - since->now) / (double)n);
	work_report("cpu", (work_cpu() - since->cpu) / (double)n);
	work_report("steals", (steals() - since->steals) / (double)n * 1e3);
}

/* Run fn in n fibers, started together, and report what an operation costs. */
static void race(fiber_fn *fn, long n)
{
	struct fiber *fibers[MANY];
	const struct costs since = costs_begin();

	for (long i = 0; i < n; i++)
		if (fiber_spawn(fn, (void *)i, &fibers[i]))
			work_die("fiber_spawn");
	for (long i = 0; i < n; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	costs_report(&since, turns * n);
}

/* -- a mutex -- */

static struct fiber_mutex table;
static long entries;

static void *locks(void *arg)
{
	for (long i = 0; i < turns; i++) {
		fiber_mutex_lock(&table, FIBER_FOREVER);
		entries++;
		fiber_mutex_unlock(&table);
	}
	return arg;
}

static void *locks_and_yields(void *arg)
{
	for (long i = 0; i < turns; i++) {
		fiber_mutex_lock(&table, FIBER_FOREVER);
		entries++;
		if (i % 8 == 0)
			fiber_yield();
		fiber_mutex_unlock(&table);
	}
	return arg;
}

static void check_entries(long n)
{
	if (entries != turns * n)
		work_die("mutual exclusion");
}

static void *locks_main(void *arg)
{
	turns = *(long *)arg / 2;
	race(locks, 2);
	check_entries(2);
	return NULL;
}

static void *locks_and_yields_main(void *arg)
{
	turns = *(long *)arg / MANY;
	race(locks_and_yields, MANY);
	check_entries(MANY);
	return NULL;
}

void bench_shared_mutex(long count, long carriers)
{
	bench_run(locks_main, &count, (unsigned)carriers);
}

void bench_shared_mutex_yield(long count, long carriers)
{
	bench_run(locks_and_yields_main, &count, (unsigned)carriers);
}

/* -- a rwlock that nothing writes -- */

static struct fiber_rwlock readable;

static void *reads(void *arg)
{
	for (long i = 0; i < turns; i++) {
		fiber_rwlock_rdlock(&readable, FIBER_FOREVER);
		fiber_rwlock_unlock(&readable);
	}
	return arg;
}

static void *reads_main(void *arg)
{
	turns = *(long *)arg / 2;
	race(reads, 2);
	return NULL;
}

void bench_shared_rwlock(long count, long carriers)
{
	bench_run(reads_main, &count, (unsigned)carriers);
}

/* -- a channel: senders and receivers, as many of each; an operation is an element -- */

struct queue {
	long count, capacity, ends;
};

static struct fiber_chan *chan;
static _Atomic long received;

static void *sends(void *arg)
{
	for (long i = 0; i < turns; i++)
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

	turns = q->count / q->ends;
	if (fiber_chan_new(sizeof(long), (size_t)q->capacity, &chan))
		work_die("fiber_chan_new");
	for (long i = 0; i < q->ends; i++)
		if (fiber_spawn(receives, NULL, &receivers[i]))
			work_die("fiber_spawn");
	race(sends, q->ends);
	fiber_chan_close(chan);
	for (long i = 0; i < q->ends; i++)
		fiber_join(receivers[i], NULL, FIBER_FOREVER);
	fiber_chan_unref(chan);
	if (received != turns * q->ends)
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

/* -- a condition: broadcast to a hundred, until all have answered; an operation is a round -- */

static struct fiber_cond round_begins, all_back;
static long current, back;

static void *answers(void *arg)
{
	fiber_mutex_lock(&table, FIBER_FOREVER);
	for (long seen = 0; seen < turns; seen++) {
		if (++back == MANY)
			fiber_cond_signal(&all_back);
		while (current == seen)
			fiber_cond_wait(&round_begins, &table, FIBER_FOREVER);
	}
	fiber_mutex_unlock(&table);
	return arg;
}

static void *rounds_main(void *arg)
{
	struct fiber *fibers[MANY];
	struct costs since;

	turns = *(long *)arg;
	for (long i = 0; i < MANY; i++)
		if (fiber_spawn(answers, NULL, &fibers[i]))
			work_die("fiber_spawn");
	fiber_mutex_lock(&table, FIBER_FOREVER);
	since = costs_begin();
	for (long i = 0; i < turns; i++) {
		while (back < MANY)
			fiber_cond_wait(&all_back, &table, FIBER_FOREVER);
		back = 0;
		current++;
		fiber_cond_broadcast(&round_begins);
	}
	fiber_mutex_unlock(&table);
	for (long i = 0; i < MANY; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	costs_report(&since, turns);
	return NULL;
}

void bench_shared_broadcast(long count, long carriers)
{
	bench_run(rounds_main, &count, (unsigned)carriers);
}
