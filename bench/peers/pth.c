/* SPDX-License-Identifier: MIT */
/* pth.c - GNU Pth: one thread, priorities, a scheduler run between any two of its threads */
#include <pth.h>

#include "bench/work.h"

static pth_t start(void *(*fn)(void *), void *arg)
{
	pth_t thread = pth_spawn(PTH_ATTR_DEFAULT, fn, arg);

	if (!thread)
		work_die("pth_spawn");
	return thread;
}

static pth_mutex_t table = PTH_MUTEX_INIT;
static pth_cond_t turned = PTH_COND_INIT;

#define THREAD	       pth_t
#define START(fn, arg) start(fn, arg)
#define JOIN(thread)   pth_join(thread, NULL)
#define RUNS_AT_ONCE   false
#define LOCK()	       pth_mutex_acquire(&table, FALSE, NULL)
#define UNLOCK()       pth_mutex_release(&table)
#define WAIT()	       pth_cond_await(&turned, &table, NULL)
#define SIGNAL()       pth_cond_notify(&turned, FALSE)

#include "bench/threads.h"

static void *yielder(void *arg)
{
	for (long rounds = *(long *)arg; rounds > 0; rounds--)
		pth_yield(NULL);
	return NULL;
}

static void run_yield(long count, long n)
{
	threads_yield(count, n, yielder);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"yield", run_yield},
		{"spawn", threads_spawn},
		{"cond", threads_cond},
		{"mutex", threads_mutex},
	};

	if (!pth_init())
		work_die("pth_init");
	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
