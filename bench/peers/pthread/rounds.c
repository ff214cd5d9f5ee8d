/* SPDX-License-Identifier: MIT */
/* rounds.c - a hundred threads that wait for a round and finish it; an operation is a round */
#include "bench/peers/pthread/pthread.h"

static void start_all(pthread_t threads[MANY], void *(*fn)(void *))
{
	for (long i = 0; i < MANY; i++)
		threads[i] = threads_start(fn, NULL);
}

static void join_all(const pthread_t threads[MANY])
{
	for (long i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
}

/* -- a condition: broadcast, until all have answered -- */

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t round_begins = PTHREAD_COND_INITIALIZER, all_back = PTHREAD_COND_INITIALIZER;
static long current, back;

static void *answers(void *arg)
{
	pthread_mutex_lock(&table);
	for (long seen = 0; seen < threads_turns; seen++) {
		if (++back == MANY)
			pthread_cond_signal(&all_back);
		while (current == seen)
			pthread_cond_wait(&round_begins, &table);
	}
	pthread_mutex_unlock(&table);
	return arg;
}

void threads_shared_broadcast(long rounds, long cpus)
{
	pthread_t threads[MANY];
	struct threads_costs since;

	threads_turns = rounds;
	threads_on(cpus);
	start_all(threads, answers);
	pthread_mutex_lock(&table);
	since = threads_costs_begin();
	for (long i = 0; i < threads_turns; i++) {
		while (back < MANY)
			pthread_cond_wait(&all_back, &table);
		back = 0;
		current++;
		pthread_cond_broadcast(&round_begins);
	}
	pthread_mutex_unlock(&table);
	join_all(threads);
	threads_costs_report(&since, threads_turns);
}

/* -- waitgroups, made of a mutex and a condition -- */

struct waitgroup {
	long count; /* under lock */
	pthread_mutex_t lock;
	pthread_cond_t zero;
};

#define WAITGROUP                                                                   \
	{                                                                           \
		.lock = PTHREAD_MUTEX_INITIALIZER, .zero = PTHREAD_COND_INITIALIZER \
	}

static struct waitgroup gates[2] = {WAITGROUP, WAITGROUP}, unfinished = WAITGROUP;

static void add(struct waitgroup *group, long n)
{
	pthread_mutex_lock(&group->lock);
	group->count += n;
	if (!group->count)
		pthread_cond_broadcast(&group->zero);
	pthread_mutex_unlock(&group->lock);
}

static void await(struct waitgroup *group)
{
	pthread_mutex_lock(&group->lock);
	while (group->count)
		pthread_cond_wait(&group->zero, &group->lock);
	pthread_mutex_unlock(&group->lock);
}

static void *finishes(void *arg)
{
	for (long i = 0; i < threads_turns; i++) {
		await(&gates[i % 2]);
		add(&unfinished, -1);
	}
	return arg;
}

void threads_shared_waitgroup(long rounds, long cpus)
{
	pthread_t threads[MANY];
	struct threads_costs since;

	threads_turns = rounds;
	threads_on(cpus);
	add(&gates[0], 1);
	start_all(threads, finishes);
	since = threads_costs_begin();
	for (long i = 0; i < threads_turns; i++) {
		add(&unfinished, MANY);
		add(&gates[(i + 1) % 2], 1);
		add(&gates[i % 2], -1);
		await(&unfinished);
	}
	threads_costs_report(&since, threads_turns);
	join_all(threads);
}
