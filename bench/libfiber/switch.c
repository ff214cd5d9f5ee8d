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
	if (bench_shares_fpu()) {
		fiber_context_share_fpu(&home.context);
		fiber_context_share_fpu(&runner->context);
	}
}

void bench_codes(long count, long arg)
{
	(void)arg;
	code_measure(count, prepare);
}

void bench_switch(long count, long arg)
{
	(void)arg;
	switch_measure(count, prepare);
}
