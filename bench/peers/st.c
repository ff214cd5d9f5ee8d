/* SPDX-License-Identifier: MIT */
/*
 * st.c - State Threads: one thread, and no locks, where libfiber takes one
 *
 * State Threads has no yield: a sleep of length 0 goes through its timers and the poller. So that
 * row is missing. Its stacks have no guard.
 */
#include <st.h>

#include "bench/work.h"

#define STACK 65536

static st_thread_t start(void *(*fn)(void *), void *arg)
{
	st_thread_t thread = st_thread_create(fn, arg, 1, STACK);

	if (!thread)
		work_die("st_thread_create");
	return thread;
}

static st_cond_t turned;

#define THREAD	       st_thread_t
#define START(fn, arg) start(fn, arg)
#define JOIN(thread)   st_thread_join(thread, NULL)
#define RUNS_AT_ONCE   false
#define LOCK()
#define UNLOCK()
#define WAIT()	 st_cond_wait(turned)
#define SIGNAL() st_cond_signal(turned)

#include "bench/threads.h"

static void run_cond(long count, long arg)
{
	turned = st_cond_new();
	threads_cond(count, arg);
}

static void run_mutex(long count, long arg)
{
	st_mutex_t mutex = st_mutex_new();
	double cpu = work_cpu();

	(void)arg;
	for (long i = 0; i < count; i++) {
		st_mutex_lock(mutex);
		st_mutex_unlock(mutex);
	}
	work_report_each(cpu, count);
}

static st_cond_t gate;
static int opened;
static long naps;
static float *late;

static void *sleeper(void *arg)
{
	long i = (long)(intptr_t)arg;
	uint32_t state = (uint32_t)i * 2654435761u + 1u;

	while (!opened)
		st_cond_wait(gate);
	for (long n = 0; n < naps; n++) {
		int64_t nap = work_nap(&state);
		double until = work_now() + (double)nap;

		st_usleep((st_utime_t)nap / 1000);
		late[i * naps + n] = (float)((work_now() - until) / 1e3);
	}
	return NULL;
}

static void run_naps(long n, long times)
{
	st_thread_t *threads = threads_room(n);
	double cpu;

	naps = times;
	gate = st_cond_new();
	late = calloc((size_t)(n * naps), sizeof(*late));
	if (!late)
		work_die("calloc");
	memset(late, 1, (size_t)(n * naps) * sizeof(*late));
	for (long i = 0; i < n; i++)
		threads[i] = start(sleeper, (void *)(intptr_t)i);
	st_usleep(1000);
	cpu = work_cpu();
	opened = 1;
	st_cond_broadcast(gate);
	for (long i = 0; i < n; i++)
		st_thread_join(threads[i], NULL);
	work_report_naps(late, (size_t)(n * naps), work_cpu() - cpu);
	free(late);
	free(threads);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"spawn", threads_spawn},
		{"cond", run_cond},
		{"mutex", run_mutex},
		{"naps", run_naps},
	};

	st_set_eventsys(ST_EVENTSYS_ALT);
	if (st_init())
		work_die("st_init");
	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
