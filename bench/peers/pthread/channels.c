/* SPDX-License-Identifier: MIT */
/*
 * channels.c - channels between threads, made of a mutex and conditions; an operation is an element
 *
 * A channel without room has one place, and its sender waits until the element is taken from it.
 * All channels of a work have one mutex and one condition for receivers, so that a receiver can
 * wait for each of them.
 */
#include "bench/peers/pthread/pthread.h"

#define ROOM_MOST 1024

struct channel {
	long elems[ROOM_MOST];
	unsigned long capacity, sent, taken; /* under lock */
	pthread_cond_t has_room, was_taken;
};

static struct channel channels[2] = {
	{.has_room = PTHREAD_COND_INITIALIZER, .was_taken = PTHREAD_COND_INITIALIZER},
	{.has_room = PTHREAD_COND_INITIALIZER, .was_taken = PTHREAD_COND_INITIALIZER},
};
static int channel_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_elems = PTHREAD_COND_INITIALIZER;

static unsigned long places(const struct channel *c)
{
	return c->capacity ? c->capacity : 1;
}

static void send(struct channel *c, long elem)
{
	unsigned long number;

	pthread_mutex_lock(&lock);
	while (c->sent - c->taken == places(c))
		pthread_cond_wait(&c->has_room, &lock);
	c->elems[c->sent % places(c)] = elem;
	number = ++c->sent;
	pthread_cond_signal(&has_elems);
	while (!c->capacity && c->taken < number)
		pthread_cond_wait(&c->was_taken, &lock);
	pthread_mutex_unlock(&lock);
}

/* The first channel with an element, or NULL. */
static struct channel *ready(void)
{
	for (int i = 0; i < channel_count; i++)
		if (channels[i].sent != channels[i].taken)
			return &channels[i];
	return NULL;
}

static long receive(void)
{
	struct channel *c;
	long elem;

	pthread_mutex_lock(&lock);
	while (!(c = ready()))
		pthread_cond_wait(&has_elems, &lock);
	elem = c->elems[c->taken++ % places(c)];
	pthread_cond_signal(&c->has_room);
	/* Another sender may wait here already if the one before it has not woken yet. */
	if (!c->capacity)
		pthread_cond_broadcast(&c->was_taken);
	pthread_mutex_unlock(&lock);
	return elem;
}

static void *sends(void *arg)
{
	for (long i = 0; i < threads_turns; i++)
		send(&channels[(intptr_t)arg % channel_count], i);
	return arg;
}

static void *receives(void *arg)
{
	for (long i = 0; i < threads_turns; i++)
		receive();
	return arg;
}

static void run(long count, unsigned long capacity, long ends, long cpus)
{
	pthread_t receivers[ENDS];

	threads_turns = count / ends;
	for (int i = 0; i < channel_count; i++)
		channels[i].capacity = capacity;
	threads_on(cpus);
	for (long i = 0; i < ends; i++)
		receivers[i] = threads_start(receives, NULL);
	threads_race(sends, ends, cpus);
	for (long i = 0; i < ends; i++)
		pthread_join(receivers[i], NULL);
}

void threads_shared_queue_0(long count, long cpus)
{
	channel_count = 1;
	run(count, 0, ENDS, cpus);
}

void threads_shared_queue_16(long count, long cpus)
{
	channel_count = 1;
	run(count, 16, ENDS, cpus);
}

void threads_shared_queue_1024(long count, long cpus)
{
	channel_count = 1;
	run(count, ROOM_MOST, ENDS, cpus);
}

void threads_shared_pipe_0(long count, long cpus)
{
	channel_count = 1;
	run(count, 0, 1, cpus);
}

void threads_shared_pipe_16(long count, long cpus)
{
	channel_count = 1;
	run(count, 16, 1, cpus);
}

void threads_shared_select(long count, long cpus)
{
	channel_count = 2;
	run(count, 0, ENDS, cpus);
}
