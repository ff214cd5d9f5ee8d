/* SPDX-License-Identifier: MIT */
/* locks.c - threads that use one mutex, readers-writer lock or semaphore */
#include <sched.h>
#include <semaphore.h>

#include "bench/peers/pthread/pthread.h"

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static long entries;

static void *locks(void *arg)
{
	for (long i = 0; i < threads_turns; i++) {
		pthread_mutex_lock(&table);
		entries++;
		pthread_mutex_unlock(&table);
	}
	return arg;
}

static void *locks_and_yields(void *arg)
{
	for (long i = 0; i < threads_turns; i++) {
		pthread_mutex_lock(&table);
		entries++;
		if (i % 8 == 0)
			sched_yield();
		pthread_mutex_unlock(&table);
	}
	return arg;
}

void threads_shared_mutex(long count, long cpus)
{
	threads_turns = count / 2;
	threads_race(locks, 2, cpus);
}

void threads_shared_mutex_yield(long count, long cpus)
{
	threads_turns = count / MANY;
	threads_race(locks_and_yields, MANY, cpus);
}

static pthread_rwlock_t readable = PTHREAD_RWLOCK_INITIALIZER;

static void *reads(void *arg)
{
	for (long i = 0; i < threads_turns; i++) {
		pthread_rwlock_rdlock(&readable);
		pthread_rwlock_unlock(&readable);
	}
	return arg;
}

void threads_shared_rwlock(long count, long cpus)
{
	threads_turns = count / 2;
	threads_race(reads, 2, cpus);
}

static sem_t places;
static _Atomic long inside;

static void *waits_and_posts(void *arg)
{
	for (long i = 0; i < threads_turns; i++) {
		sem_wait(&places);
		++inside;
		if (i % 8 == 0)
			sched_yield();
		--inside;
		sem_post(&places);
	}
	return arg;
}

void threads_shared_sem(long count, long cpus)
{
	threads_turns = count / ENDS;
	sem_init(&places, 0, 2);
	threads_race(waits_and_posts, ENDS, cpus);
}
