/* SPDX-License-Identifier: MIT */
/*
 * run.c - run one schedule
 *
 * The runtime is used again by the next schedule if no background fiber is left that only its end
 * would cancel. Everything else starts anew: the numbers of fibers, the clock, the memory that the
 * options name.
 */
#include "explore/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>
#include <fiber/runtime.h>
#include <fiber/time.h>

#include "base/check.h"
#include "explore/faults.h"
#include "explore/footprint.h"
#include "explore/leaks.h"
#include "explore/linear.h"
#include "explore/stuck.h"
#include "explore/whole.h"
#include "history/record.h"
#include "life/live_count.h"
#include "memory.h"
#include "net/net.h"
#include "runtime/runtime.h"
#include "sched/loop.h"
#include "strategy/strategy.h"

static struct {
	struct fiber_runtime *rt; /* NULL: none is started */
	const struct fib_test *test;
	unsigned char *memory; /* copies of options.memory, one after another */
	uint64_t random;
	uint64_t reached;
	bool returned;
} run;

int fib_run_prepare(const struct fib_test *test)
{
	const struct fiber_test_options *o = test->options;
	size_t i, size = 0;

	for (i = 0; i < o->nmemory; i++)
		size += o->memory[i].size;
	run.memory = malloc(size + 1);
	if (!run.memory)
		return -ENOMEM;
	for (i = size = 0; i < o->nmemory; size += o->memory[i++].size)
		memcpy(run.memory + size, o->memory[i].at, o->memory[i].size);
	return 0;
}

static void restore_memory(const struct fiber_test_options *o)
{
	size_t i, at = 0;

	for (i = 0; i < o->nmemory; at += o->memory[i++].size)
		memcpy(o->memory[i].at, run.memory + at, o->memory[i].size);
}

static void *first_main(void *arg)
{
	const struct fib_test *test = arg;

	test->fn(test->arg);
	run.returned = true;
	fib_stuck_returned(true);
	return NULL;
}

static void start_runtime(const struct fiber_test_options *test)
{
	const struct fiber_runtime_options o = {
		.size = sizeof o,
		.name = test->name,
		.carriers = 1,
		.stack_size = test->stack_size,
		.long_run_ns = -1,
		.control_path = "",
	};

	if (!run.rt)
		fib_check(fiber_runtime_start(&o, &run.rt) == 0);
	fib_stuck_in(run.rt);
}

/* Run until the test has returned and all fibers but background ones have exited. */
static void run_to_the_end(void)
{
	struct fib_sched *s = &run.rt->sched;

	while (!run.returned || !fib_live_none(s))
		if (!fib_loop_turn())
			fib_stuck();
}

/* Background fibers are cancelled by the end of their runtime. */
static void end_background(void)
{
	if (!fib_load(&run.rt->sched.background_live))
		return;
	fib_check(fiber_runtime_finish(run.rt, FIBER_FOREVER) == 0);
	run.rt = NULL;
}

void fib_run_schedule(const struct fib_test *test, const struct fib_schedule *schedule)
{
	const struct fiber_test_options *o = test->options;
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_DETACHED};

	run.test = test;
	run.returned = false;
	run.random = o->seed;
	fib_stuck_returned(false);
	fib_record_reset();
	fib_faults_begin(o->faults, o->fault_limit);
	restore_memory(o);
	if (fib_whole()) {
		fib_explorer_begin(schedule);
		fib_net_begin();
		fib_whole_run(test->fn, test->arg);
	}
	start_runtime(o);
	fib_leaks_begin(o->flags);
	fib_explorer_begin(schedule);
	fib_memory_begin(!(o->flags & FIBER_TEST_NO_RACES));
	fib_net_begin();
	if (o->prepare)
		o->prepare(test->arg);
	fib_check(fiber_runtime_spawn(run.rt, &attr, first_main, (void *)(uintptr_t)test, NULL) ==
		  0);
	run_to_the_end();
	end_background();
	fib_linear_check();
	/* Its assertions are findings of the schedule. */
	if (o->finish)
		o->finish(test->arg);
	fib_memory_end();
	/* What closed sockets keep is none that the test has left. */
	fib_net_settle();
	fib_leaks_end();
	fib_net_end();
	fib_explorer_end();
}

uint64_t fib_run_random(void)
{
	fib_footprint_all(); /* the sequence is one for all fibers */
	run.random += UINT64_C(0x9e3779b97f4a7c15);
	return fib_mix(run.random);
}

uint64_t fib_run_reached(void)
{
	return run.reached;
}

void fib_run_note_reached(const char *what)
{
	const char *const *reach = run.test ? run.test->options->reach : NULL;
	unsigned i;

	for (i = 0; reach && reach[i] && i < 64; i++)
		if (strcmp(reach[i], what) == 0)
			run.reached |= UINT64_C(1) << i;
}
