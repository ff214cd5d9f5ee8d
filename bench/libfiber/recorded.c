/* SPDX-License-Identifier: MIT */
/*
 * recorded.c - what an event costs while the flight recorder is on
 *
 * Fibers yield, with the recorder off and on alternately, in one process. Each switch is one event.
 * The output is the median difference per event. The rings have no reader: overwriting the oldest
 * event costs the same.
 */
#include "sched/recorder.h"
#include "sched/sched.h"

#include "bench/libfiber/bench.h"

#define TURNS 15
#define RING  131072u

struct recorded {
	long count, fibers;
};

static void *yields(void *arg)
{
	for (long rounds = *(long *)arg; rounds > 0; rounds--)
		fiber_yield();
	return NULL;
}

/* Returns the ns of CPU per yield. */
static double turn(const struct recorded *r, struct fiber **fibers)
{
	long rounds = r->count / r->fibers / TURNS / 2 + 1;
	double cpu;

	for (long i = 0; i < r->fibers; i++)
		if (fiber_spawn(yields, &rounds, &fibers[i]))
			work_die("fiber_spawn");
	cpu = work_cpu();
	for (long i = 0; i < r->fibers; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	return (work_cpu() - cpu) / (double)(rounds * r->fibers);
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void *recorded_main(void *arg)
{
	const struct recorded *r = arg;
	struct fib_sched *s = fib_carrier_self()->sched;
	struct fiber **fibers = calloc((size_t)r->fibers, sizeof(struct fiber *));
	double difference[TURNS];

	if (!fibers)
		work_die("calloc");
	turn(r, fibers);
	for (int i = 0; i < TURNS; i++) {
		double off = turn(r, fibers), on;

		if (fib_recorder_start(s, RING))
			work_die("fib_recorder_start");
		if (!i)
			turn(r, fibers); /* touch its memory first */
		on = turn(r, fibers);
		fib_recorder_stop(s);
		difference[i] = on - off;
	}
	qsort(difference, TURNS, sizeof(difference[0]), by_value);
	work_report("ns", difference[TURNS / 2]);
	free(fibers);
	return NULL;
}

void bench_recorded(long count, long fibers)
{
	struct recorded r = {count, fibers};

	bench_run(recorded_main, &r, 1);
}
