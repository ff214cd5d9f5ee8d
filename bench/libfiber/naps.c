/* SPDX-License-Identifier: MIT */
/*
 * naps.c - many fibers that sleep 1-100 ms, several times each, on one carrier
 *
 * Lateness is the time from a sleep's deadline until the fiber sees it. All fibers exist before the
 * first sleep, so timers are measured and not spawning.
 *
 * The other work is one sleeper beside many fibers that only yield. Its carrier is never idle: how
 * late is an expired deadline noticed?
 */
#include "bench/libfiber/bench.h"

static struct fiber_sem gate;
static long naps;
static float *late;

static void *sleeper(void *arg)
{
	long i = (intptr_t)arg;
	uint32_t state = (uint32_t)i * 2654435761u + 1u;

	fiber_sem_wait(&gate, FIBER_FOREVER);
	for (long n = 0; n < naps; n++) {
		int64_t until = fiber_after(work_nap(&state));

		fiber_sleep_until(until);
		late[i * naps + n] = (float)(fiber_now() - until) / 1e3f;
	}
	return NULL;
}

static void *naps_main(void *arg)
{
	long n = *(long *)arg;
	struct fiber **fibers = calloc((size_t)n, sizeof(struct fiber *));
	double cpu;

	late = calloc((size_t)(n * naps), sizeof(*late));
	if (!fibers || !late)
		work_die("calloc");
	memset(late, 1, (size_t)(n * naps) * sizeof(*late)); /* not the fibers' cost */
	for (long i = 0; i < n; i++)
		if (fiber_spawn(sleeper, (void *)i, &fibers[i]))
			work_die("fiber_spawn");
	fiber_yield();
	cpu = work_cpu();
	for (long i = 0; i < n; i++)
		fiber_sem_post(&gate);
	for (long i = 0; i < n; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	work_report_naps(late, (size_t)(n * naps), work_cpu() - cpu);
	free(fibers);
	free(late);
	return NULL;
}

void bench_naps(long fibers, long times)
{
	naps = times;
	bench_run(naps_main, &fibers, 1);
}

static volatile bool over;

static void *yielder(void *arg)
{
	while (!over)
		fiber_yield();
	return arg;
}

static void *beside_main(void *arg)
{
	long n = *(long *)arg, yielders = naps;
	uint32_t state = 1;
	double cpu;

	late = calloc((size_t)n, sizeof(*late));
	if (!late)
		work_die("calloc");
	for (long i = 0; i < yielders; i++)
		if (fiber_spawn(yielder, NULL, NULL))
			work_die("fiber_spawn");
	fiber_yield();
	cpu = work_cpu();
	for (long i = 0; i < n; i++) {
		int64_t until = fiber_after(work_nap(&state) / 50);

		fiber_sleep_until(until);
		late[i] = (float)(fiber_now() - until) / 1e3f;
	}
	over = true;
	work_report_naps(late, (size_t)n, work_cpu() - cpu);
	free(late);
	return NULL;
}

void bench_beside(long sleeps, long yielders)
{
	naps = yielders;
	bench_run(beside_main, &sleeps, 1);
}
