/* SPDX-License-Identifier: MIT */
/* shared.c - fibers that start together, and what their operations cost */
#include "bench/libfiber/shared/shared.h"
#include "sched/counters.h"
#include "sched/sched.h"

long bench_turns;

/* Times that a carrier of this runtime has stolen. */
static double steals(void)
{
	const struct fib_sched *s = fib_carrier_self()->sched;
	double sum = 0;

	for (unsigned i = 0; i < s->carrier_count; i++)
		sum += (double)fib_load(&s->carriers[i].counters.steals);
	return sum;
}

struct bench_costs bench_costs_begin(void)
{
	return (struct bench_costs){work_now(), work_cpu(), steals()};
}

void bench_steals_report(const struct bench_costs *since, long n)
{
	work_report("steals", (steals() - since->steals) / (double)n * 1e3);
}

void bench_costs_report(const struct bench_costs *since, long n)
{
	work_report("ns", (work_now() - since->now) / (double)n);
	work_report("cpu", (work_cpu() - since->cpu) / (double)n);
	bench_steals_report(since, n);
}

struct fiber *bench_start(fiber_fn *fn, void *arg)
{
	struct fiber *fiber;

	if (fiber_spawn(fn, arg, &fiber))
		work_die("fiber_spawn");
	return fiber;
}

void bench_finish(struct fiber *fiber)
{
	fiber_join(fiber, NULL, FIBER_FOREVER);
}

void bench_race(fiber_fn *fn, long n)
{
	struct fiber *fibers[MANY];
	const struct bench_costs since = bench_costs_begin();

	for (long i = 0; i < n; i++)
		fibers[i] = bench_start(fn, (void *)i);
	for (long i = 0; i < n; i++)
		bench_finish(fibers[i]);
	bench_costs_report(&since, bench_turns * n);
}
