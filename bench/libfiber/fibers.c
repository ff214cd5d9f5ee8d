/* SPDX-License-Identifier: MIT */
/* fibers.c - basic scheduling on one carrier: yield, spawn, switch by messages, lock */
#include <fiber/chan.h>
#include <pthread.h>

#include "bench/libfiber/bench.h"

/* A work of threads.h, run by the first fiber of a runtime with one carrier. */
struct load {
	void (*work)(long count, long arg);
	long count, arg;
};

static void *load_main(void *arg)
{
	const struct load *load = arg;

	load->work(load->count, load->arg);
	return NULL;
}

static void on_carriers(void (*work)(long count, long arg), long count, long arg, unsigned carriers)
{
	struct load load = {work, count, arg};

	bench_run(load_main, &load, carriers);
}

static void in_a_fiber(void (*work)(long count, long arg), long count, long arg)
{
	on_carriers(work, count, arg, 1);
}

static struct fiber *start(fiber_fn *fn, void *arg)
{
	struct fiber *fiber;

	if (fiber_spawn(fn, arg, &fiber))
		work_die("fiber_spawn");
	return fiber;
}

static struct fiber_mutex table;
static struct fiber_cond turned;

#define THREAD	       struct fiber *
#define START(fn, arg) start(fn, arg)
#define JOIN(fiber)    fiber_join(fiber, NULL, FIBER_FOREVER)
#define RUNS_AT_ONCE   false
#define LOCK()	       fiber_mutex_lock(&table, FIBER_FOREVER)
#define UNLOCK()       fiber_mutex_unlock(&table)
#define WAIT()	       fiber_cond_wait(&turned, &table, FIBER_FOREVER)
#define SIGNAL()       fiber_cond_signal(&turned)

#include "bench/threads.h"

/* -- yield: every fiber yields the same number of times -- */

static void *yielder(void *arg)
{
	long rounds = *(long *)arg;

	while (rounds-- > 0)
		fiber_yield();
	return NULL;
}

static void yield_work(long count, long fibers)
{
	threads_yield(count, fibers, yielder);
}

void bench_yield(long count, long fibers)
{
	in_a_fiber(yield_work, count, fibers);
}

/* -- spawn, run, join: rounds of many at once; the first round allocates the stacks -- */

void bench_spawn(long count, long live)
{
	in_a_fiber(threads_spawn, count, live);
}

/* -- ping-pong over a mutex and a condition: a message each way -- */

void bench_cond(long count, long arg)
{
	in_a_fiber(threads_cond, count, arg);
}

/* -- ping-pong over two channels without a buffer: a sender waits for its receiver -- */

static struct fiber_chan *there, *back;

static void *echo(void *arg)
{
	long message;

	while (!fiber_chan_recv(there, &message, FIBER_FOREVER))
		fiber_chan_send(back, &message, FIBER_FOREVER);
	return arg;
}

static void channel_work(long count, long arg)
{
	long messages = count / 2, answer = 0;
	struct fiber *other;
	double cpu;

	(void)arg;
	if (fiber_chan_new(sizeof(long), 0, &there) || fiber_chan_new(sizeof(long), 0, &back))
		work_die("fiber_chan_new");
	other = start(echo, NULL);
	cpu = work_cpu();
	for (long i = 0; i < messages; i++) {
		fiber_chan_send(there, &i, FIBER_FOREVER);
		fiber_chan_recv(back, &answer, FIBER_FOREVER);
	}
	work_report_each(cpu, messages * 2);
	fiber_chan_close(there);
	fiber_join(other, NULL, FIBER_FOREVER);
	fiber_chan_unref(there);
	fiber_chan_unref(back);
}

void bench_channel(long count, long arg)
{
	in_a_fiber(channel_work, count, arg);
}

/* -- lock and unlock without contention, and the same after another thread has used the mutex: then
 * the locked instructions are needed -- */

void bench_mutex(long count, long arg)
{
	in_a_fiber(threads_mutex, count, arg);
}

static void *stranger(void *arg)
{
	LOCK();
	UNLOCK();
	return arg;
}

static void mutex_used(long count, long arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, stranger, NULL) || pthread_join(thread, NULL))
		work_die("pthread_create");
	threads_mutex(count, arg);
}

void bench_mutex_used(long count, long carriers)
{
	on_carriers(mutex_used, count, carriers, (unsigned)carriers);
}
