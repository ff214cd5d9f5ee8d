/* SPDX-License-Identifier: MIT */
/*
 * sleepers.c - many fibers on several carriers that sleep 1-20 ms, several times each
 *
 * Lateness is the time from a sleep's deadline until the fiber sees it. All fibers exist before the
 * first sleep, so timers are measured and not spawning.
 */
#include "bench/libfiber/shared/shared.h"

static struct fiber_event gate;
static float *late;

static void *sleeper(void *arg)
{
	long i = (intptr_t)arg;
	uint32_t state = work_nap_state(i);

	fiber_event_wait(&gate, FIBER_FOREVER);
	for (long n = 0; n < WORK_SHORT_NAPS; n++) {
		int64_t until = fiber_after(work_short_nap(&state));

		fiber_sleep_until(until);
		late[i * WORK_SHORT_NAPS + n] = (float)(fiber_now() - until) / 1e3f;
	}
	return NULL;
}

static void *sleepers_main(void *arg)
{
	const long n = *(long *)arg, naps = n * WORK_SHORT_NAPS;
	struct fiber **fibers = calloc((size_t)n, sizeof(struct fiber *));
	struct bench_costs since;

	late = calloc((size_t)naps, sizeof(*late));
	if (!fibers || !late)
		work_die("calloc");
	memset(late, 1, (size_t)naps * sizeof(*late)); /* not the fibers' cost */
	for (long i = 0; i < n; i++)
		fibers[i] = bench_start(sleeper, (void *)i);
	fiber_sleep(WORK_UNTIL_ALL_WAIT);
	since = bench_costs_begin();
	fiber_event_set(&gate);
	for (long i = 0; i < n; i++)
		bench_finish(fibers[i]);
	bench_steals_report(&since, naps);
	work_report_naps(late, (size_t)naps, work_cpu() - since.cpu);
	free(fibers);
	free(late);
	return NULL;
}

void bench_shared_sleepers(long count, long carriers)
{
	bench_run(sleepers_main, &count, (unsigned)carriers);
}
