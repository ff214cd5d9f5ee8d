/* SPDX-License-Identifier: MIT */
/*
 * stress_cond.c - a bounded buffer: a lost signal leaves it full or empty forever
 *
 * Items are put and taken under the mutex, so the items of each producer come out in order, none
 * missing.
 */
#include <string.h>

#include "tests/stress/stress.h"

#define ROOM	  5
#define PRODUCERS 512

struct item {
	unsigned who;
	uint64_t number;
};

static struct {
	struct fiber_mutex mutex;
	struct fiber_cond not_full, not_empty;
	struct item items[ROOM];
	unsigned first, count;
	uint64_t put[PRODUCERS], taken[PRODUCERS];
	bool over;
} buffer;

static bool lock(struct stress_actor *a)
{
	const int rc = fiber_mutex_lock(&buffer.mutex, stress_deadline(a));

	stress_expect(rc, "fiber_mutex_lock");
	return rc == 0;
}

static void wake(struct stress_actor *a, struct fiber_cond *cond)
{
	if (stress_rand(a, 10) == 0)
		fiber_cond_broadcast(cond);
	else
		fiber_cond_signal(cond);
}

static void put(struct stress_actor *a)
{
	const unsigned who = stress_number(a);
	int rc = 0;

	while (buffer.count == ROOM && rc == 0)
		rc = fiber_cond_wait(&buffer.not_full, &buffer.mutex, stress_deadline(a));
	stress_expect(rc, "fiber_cond_wait");
	if (buffer.count == ROOM)
		return;
	buffer.items[(buffer.first + buffer.count++) % ROOM] =
		(struct item){who, buffer.put[who]++};
	wake(a, &buffer.not_empty);
}

static void take(struct stress_actor *a)
{
	struct item item;
	int rc = 0;

	while (!buffer.count && !buffer.over && rc == 0)
		rc = fiber_cond_wait(&buffer.not_empty, &buffer.mutex, stress_deadline(a));
	stress_expect(rc, "fiber_cond_wait");
	if (!buffer.count)
		return;
	item = buffer.items[buffer.first];
	buffer.first = (buffer.first + 1) % ROOM;
	buffer.count--;
	if (item.number != buffer.taken[item.who]++)
		stress_wrong("item %llu of %u came instead of %llu",
			     (unsigned long long)item.number, item.who,
			     (unsigned long long)buffer.taken[item.who] - 1);
	wake(a, &buffer.not_full);
}

static void produce(struct stress_actor *a)
{
	while (stress_on(a, "puts into the buffer")) {
		if (lock(a)) {
			put(a);
			fiber_mutex_unlock(&buffer.mutex);
		}
		stress_pause(a);
	}
}

static void consume(struct stress_actor *a)
{
	while (stress_on(a, "takes out of the buffer")) {
		if (lock(a)) {
			take(a);
			fiber_mutex_unlock(&buffer.mutex);
		}
		stress_pause(a);
	}
}

/* Close it once there are no producers any more. */
static void close_buffer(struct stress_actor *a)
{
	while (stress_on(a, "waits for the producers"))
		fiber_sleep(1000000);
	fiber_mutex_lock(&buffer.mutex, FIBER_FOREVER);
	buffer.over = true;
	fiber_cond_broadcast(&buffer.not_empty);
	fiber_mutex_unlock(&buffer.mutex);
}

static void begin(void)
{
	memset(&buffer, 0, sizeof buffer);
	fiber_object_name(&buffer.mutex, "buffer");
	fiber_object_name(&buffer.not_full, "not full");
	fiber_object_name(&buffer.not_empty, "not empty");
	stress_add("produce", 0, 8, produce, NULL);
	stress_add("produce-mortal", STRESS_MORTAL, 4, produce, NULL);
	stress_add("produce-thread", STRESS_THREAD, 2, produce, NULL);
	stress_add("consume", STRESS_SERVER, 8, consume, NULL);
	stress_add("consume-mortal", STRESS_SERVER | STRESS_MORTAL, 4, consume, NULL);
	stress_add("consume-thread", STRESS_SERVER | STRESS_THREAD, 2, consume, NULL);
	stress_add("close", STRESS_SERVER, 1, close_buffer, NULL);
}

static void check(void)
{
	uint64_t put_in = 0, taken_out = 0;
	unsigned i;

	for (i = 0; i < PRODUCERS; i++) {
		put_in += buffer.put[i];
		taken_out += buffer.taken[i];
	}
	if (put_in != taken_out + buffer.count)
		stress_wrong("%llu items were put, %llu taken, %u are there",
			     (unsigned long long)put_in, (unsigned long long)taken_out,
			     buffer.count);
}

const struct stress_theme stress_cond = {"cond", begin, check};
