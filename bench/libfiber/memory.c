/* SPDX-License-Identifier: MIT */
/*
 * memory.c - many fibers that have run and wait
 *
 * The output is the additional resident memory of the process, and its page tables separately. This
 * includes the record, the guarded stack and all else that the library allocates for a fiber.
 */
#include "bench/libfiber/bench.h"
#include "bench/resident.h"

static struct fiber_sem gate;

static void *waiter(void *arg)
{
	fiber_sem_wait(&gate, FIBER_FOREVER);
	return arg;
}

static void *memory_main(void *arg)
{
	long n = *(long *)arg;
	struct resident before = resident_now(), after;
	double cpu = work_cpu();

	for (long i = 0; i < n; i++)
		if (fiber_spawn(waiter, NULL, NULL))
			work_die("fiber_spawn");
	/* All of them run before this fiber runs again. */
	fiber_yield();
	cpu = work_cpu() - cpu;
	after = resident_now();
	resident_report(&before, &after, n, cpu);
	/* Ending so many fibers would take as long, and is not measured. */
	fflush(stdout);
	_Exit(0);
	return NULL;
}

void bench_memory(long fibers, long arg)
{
	(void)arg;
	bench_run(memory_main, &fibers, 1);
}
