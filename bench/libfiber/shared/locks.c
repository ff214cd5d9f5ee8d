/* SPDX-License-Identifier: MIT */
/* locks.c - fibers on several carriers that use one mutex, readers-writer lock or semaphore */
#include "bench/libfiber/shared/shared.h"

/* -- a mutex -- */

static struct fiber_mutex table;
static long entries;

static void *locks(void *arg)
{
	for (long i = 0; i < bench_turns; i++) {
		fiber_mutex_lock(&table, FIBER_FOREVER);
		entries++;
		fiber_mutex_unlock(&table);
	}
	return arg;
}

static void *locks_and_yields(void *arg)
{
	for (long i = 0; i < bench_turns; i++) {
		fiber_mutex_lock(&table, FIBER_FOREVER);
		entries++;
		if (i % 8 == 0)
			fiber_yield();
		fiber_mutex_unlock(&table);
	}
	return arg;
}

static void check_entries(long n)
{
	if (entries != bench_turns * n)
		work_die("mutual exclusion");
}

static void *locks_main(void *arg)
{
	bench_turns = *(long *)arg / 2;
	bench_race(locks, 2);
	check_entries(2);
	return NULL;
}

static void *locks_and_yields_main(void *arg)
{
	bench_turns = *(long *)arg / MANY;
	bench_race(locks_and_yields, MANY);
	check_entries(MANY);
	return NULL;
}

void bench_shared_mutex(long count, long carriers)
{
	bench_run(locks_main, &count, (unsigned)carriers);
}

void bench_shared_mutex_yield(long count, long carriers)
{
	bench_run(locks_and_yields_main, &count, (unsigned)carriers);
}

/* -- a rwlock that nothing writes -- */

static struct fiber_rwlock readable;

static void *reads(void *arg)
{
	for (long i = 0; i < bench_turns; i++) {
		fiber_rwlock_rdlock(&readable, FIBER_FOREVER);
		fiber_rwlock_unlock(&readable);
	}
	return arg;
}

static void *reads_main(void *arg)
{
	bench_turns = *(long *)arg / 2;
	bench_race(reads, 2);
	return NULL;
}

void bench_shared_rwlock(long count, long carriers)
{
	bench_run(reads_main, &count, (unsigned)carriers);
}

/* -- a semaphore with two places; a yield in every 8th hold makes fibers wait on one carrier too -- */

#define PLACES 2

static struct fiber_sem places;
static _Atomic long inside;

static void *waits_and_posts(void *arg)
{
	for (long i = 0; i < bench_turns; i++) {
		fiber_sem_wait(&places, FIBER_FOREVER);
		if (++inside > PLACES)
			work_die("the limit of the semaphore");
		if (i % 8 == 0)
			fiber_yield();
		--inside;
		fiber_sem_post(&places);
	}
	return arg;
}

static void *places_main(void *arg)
{
	bench_turns = *(long *)arg / ENDS;
	fiber_sem_init(&places, PLACES);
	bench_race(waits_and_posts, ENDS);
	return NULL;
}

void bench_shared_sem(long count, long carriers)
{
	bench_run(places_main, &count, (unsigned)carriers);
}
