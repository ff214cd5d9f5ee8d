/* SPDX-License-Identifier: MIT */
/* switch.c - the public context layer without a scheduler. */
#include <fiber/context.h>

#include "bench/libfiber/bench.h"

struct runner {
	struct fiber_context context;
	struct runner *next, *home;
	uint64_t left;
};

#define SWITCH(from, to) fiber_context_switch(&(from)->context, &(to)->context)

#include "bench/codes.h"

static void prepare(struct runner *runner, char *low, void (*fn)(void *))
{
	if (fiber_thread_to_context(&home.context) ||
	    fiber_context_init(&runner->context, low, CODE_STACK, fn, runner))
		work_die("fiber_context_init");
}

void bench_codes(long count, long arg)
{
	(void)arg;
	code_measure(count, prepare);
}

static void bounce(void *arg)
{
	(void)arg;
	for (;;)
		SWITCH(&runners[0], &home);
}

void bench_switch(long count, long arg)
{
	long rounds = count / 2;
	double cpu;

	(void)arg;
	prepare(&runners[0], code_stacks[0], bounce);
	cpu = work_cpu();
	for (long i = 0; i < rounds; i++)
		SWITCH(&home, &runners[0]);
	work_report("ns", (work_cpu() - cpu) / (double)(rounds * 2));
}
