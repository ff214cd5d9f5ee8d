/* SPDX-License-Identifier: MIT */
/* test_sync.c - mutex, condition variable and semaphore, shared by fibers and threads */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

/* -- one mutex, fibers and threads -- */

struct counter {
	struct fiber_mutex mutex;
	long value;  /* under mutex */
	int inside;  /* under mutex */
	int crowded; /* under mutex: how often another one was inside */
	int rounds;
};

static void *count(void *arg)
{
	struct counter *c = arg;

	for (int i = 0; i < c->rounds; i++) {
		fiber_mutex_lock(&c->mutex, FIBER_FOREVER);
		c->crowded += c->inside++ != 0;
		if (i % 8 == 0)
			fiber_yield(); /* hold it over a switch */
		c->value++;
		c->inside--;
		fiber_mutex_unlock(&c->mutex);
		if (i % 16 == 0)
			fiber_yield();
	}
	return NULL;
}

static void test_sync_mutex_guards_a_counter_of_fibers_and_threads(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct counter c = {.rounds = 2000};
	struct fiber *fibers[20];
	pthread_t threads[3];

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, count, &c, &fibers[i]), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, &c), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(fiber_join(fibers[i], NULL, FIBER_FOREVER), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(c.value, 23 * 2000);
	assert_int_equal(c.crowded, 0);
	assert_int_equal(fiber_mutex_trylock(&c.mutex), 0);
	fiber_mutex_unlock(&c.mutex);
	carriers_finish(rt);
}

/* -- deadlines under contention -- */

static void *count_impatiently(void *arg)
{
	struct counter *c = arg;
	intptr_t got = 0;

	for (int i = 0; i < c->rounds; i++) {
		if (fiber_mutex_lock(&c->mutex, fiber_after((i % 3) * 20000)) < 0)
			continue;
		c->crowded += c->inside++ != 0;
		if (i % 4 == 0)
			fiber_sleep(10000);
		c->value++;
		got++;
		c->inside--;
		fiber_mutex_unlock(&c->mutex);
	}
	return (void *)got;
}

static void test_sync_mutex_with_deadlines_is_held_by_one_and_left_free(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct counter c = {.rounds = 500};
	struct fiber *fibers[16];
	long got = 0;

	(void)state;
	for (int i = 0; i < 16; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, count_impatiently, &c, &fibers[i]),
				 0);
	for (int i = 0; i < 16; i++) {
		struct fiber_result r = {NULL, 1};

		assert_int_equal(fiber_join(fibers[i], &r, FIBER_FOREVER), 0);
		got += (intptr_t)r.value;
	}
	assert_true(got > 0);
	assert_int_equal(c.value, got);
	assert_int_equal(c.crowded, 0);
	assert_int_equal(fiber_mutex_trylock(&c.mutex), 0);
	fiber_mutex_unlock(&c.mutex);
	carriers_finish(rt);
}

/* -- order and fairness -- */

struct line {
	struct fiber_mutex mutex;
	intptr_t served[16]; /* under mutex */
	int count;
};

struct place {
	struct line *line;
	intptr_t number;
};

static void *stand(void *arg)
{
	struct place *p = arg;

	fiber_mutex_lock(&p->line->mutex, FIBER_FOREVER);
	p->line->served[p->line->count++] = p->number;
	fiber_mutex_unlock(&p->line->mutex);
	return NULL;
}

static void *form_a_line(void *arg)
{
	struct line *line = arg;
	struct place places[16];
	struct fiber *f[16];

	fiber_mutex_lock(&line->mutex, FIBER_FOREVER);
	for (int i = 0; i < 16; i++) {
		places[i] = (struct place){line, i};
		fiber_spawn(stand, &places[i], &f[i]);
		carriers_await_suspended(f[i]);
	}
	fiber_mutex_unlock(&line->mutex);
	for (int i = 0; i < 16; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return NULL;
}

/* A fiber is suspended a moment before it is queued; on one carrier this moment is not visible. */
static void test_sync_mutex_serves_in_the_order_they_came(void **state)
{
	struct line line = {0};
	int seen = 0;

	(void)state;
	carriers_run(form_a_line, &line);
	assert_int_equal(line.count, 16);
	for (int i = 0; i < 16; i++) {
		seen |= 1 << line.served[i];
		if (carriers() == 1)
			assert_int_equal(line.served[i], i);
	}
	assert_int_equal(seen, 0xffff);
}

struct fair {
	struct fiber_mutex mutex;
	_Atomic bool over;
};

static void *grab_again_and_again(void *arg)
{
	struct fair *f = arg;

	while (!f->over) {
		fiber_mutex_lock(&f->mutex, FIBER_FOREVER);
		fiber_yield();
		fiber_mutex_unlock(&f->mutex);
	}
	return NULL;
}

static void *come_once_in_a_while(void *arg)
{
	struct fair *f = arg;

	for (int i = 0; i < 100; i++) {
		fiber_mutex_lock(&f->mutex, FIBER_FOREVER);
		fiber_mutex_unlock(&f->mutex);
		fiber_yield();
	}
	f->over = true;
	return NULL;
}

static void *mutex_hogs(void *arg)
{
	struct fiber *f[4];

	for (int i = 0; i < 3; i++)
		fiber_spawn(grab_again_and_again, arg, &f[i]);
	fiber_spawn(come_once_in_a_while, arg, &f[3]);
	for (int i = 0; i < 4; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return NULL;
}

static void test_sync_mutex_that_others_hog_is_had_by_whoever_waits(void **state)
{
	struct fair f = {0};

	(void)state;
	carriers_run(mutex_hogs, &f);
	assert_true(f.over);
}

/* -- a bounded buffer: a mutex and two conditions -- */

#define ROOM 4

struct buffer {
	struct fiber_mutex mutex;
	struct fiber_cond not_full, not_empty;
	int items[ROOM], count, first; /* under mutex */
	_Atomic long taken;
	int per_producer;
};

static void *produce(void *arg)
{
	struct buffer *b = arg;

	for (int i = 1; i <= b->per_producer; i++) {
		fiber_mutex_lock(&b->mutex, FIBER_FOREVER);
		while (b->count == ROOM)
			fiber_cond_wait(&b->not_full, &b->mutex, FIBER_FOREVER);
		b->items[(b->first + b->count++) % ROOM] = i;
		fiber_mutex_unlock(&b->mutex);
		fiber_cond_signal(&b->not_empty);
	}
	return NULL;
}

static void *consume(void *arg)
{
	struct buffer *b = arg;
	int item;

	do {
		fiber_mutex_lock(&b->mutex, FIBER_FOREVER);
		while (!b->count)
			fiber_cond_wait(&b->not_empty, &b->mutex, FIBER_FOREVER);
		item = b->items[b->first];
		b->first = (b->first + 1) % ROOM;
		b->count--;
		fiber_mutex_unlock(&b->mutex);
		fiber_cond_signal(&b->not_full);
		b->taken += item;
	} while (item);
	return NULL;
}

/* Fibers produce and consume, and so does a thread; a 0 ends one consumer. */
static void test_sync_cond_passes_every_item_through_a_bounded_buffer(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct buffer b = {.per_producer = 1000};
	struct fiber *producers[5], *consumers[5];
	pthread_t producer, consumer;

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(fiber_runtime_spawn(rt, NULL, consume, &b, &consumers[i]), 0);
		assert_int_equal(fiber_runtime_spawn(rt, NULL, produce, &b, &producers[i]), 0);
	}
	assert_int_equal(pthread_create(&consumer, NULL, consume, &b), 0);
	assert_int_equal(pthread_create(&producer, NULL, produce, &b), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(fiber_join(producers[i], NULL, FIBER_FOREVER), 0);
	pthread_join(producer, NULL);
	for (int ends = 0; ends < 6; ends++) {
		fiber_mutex_lock(&b.mutex, FIBER_FOREVER);
		while (b.count == ROOM)
			fiber_cond_wait(&b.not_full, &b.mutex, FIBER_FOREVER);
		b.items[(b.first + b.count++) % ROOM] = 0;
		fiber_mutex_unlock(&b.mutex);
		fiber_cond_signal(&b.not_empty);
	}
	for (int i = 0; i < 5; i++)
		assert_int_equal(fiber_join(consumers[i], NULL, FIBER_FOREVER), 0);
	pthread_join(consumer, NULL);
	assert_int_equal(b.taken, 6L * 1000 * 1001 / 2);
	carriers_finish(rt);
}

struct timed {
	struct fiber_mutex mutex;
	struct fiber_cond cond;
	int rc, early;
};

static void *wait_for_nothing(void *arg)
{
	struct timed *t = arg;
	const int64_t deadline = fiber_after(2 * MS);

	fiber_mutex_lock(&t->mutex, FIBER_FOREVER);
	t->rc = fiber_cond_wait(&t->cond, &t->mutex, deadline);
	t->early = fiber_now() < deadline;
	fiber_mutex_unlock(&t->mutex); /* aborts if the wait returned without the mutex */
	return NULL;
}

static void test_sync_cond_times_out_with_the_mutex_held(void **state)
{
	struct timed t = {.rc = 1, .early = 1};

	(void)state;
	carriers_run(wait_for_nothing, &t);
	assert_int_equal(t.rc, -ETIMEDOUT);
	assert_int_equal(t.early, 0);
	wait_for_nothing(&t);
	assert_int_equal(t.rc, -ETIMEDOUT);
	assert_int_equal(t.early, 0);
}

/* -- semaphore -- */

struct rooms {
	struct fiber_sem sem;
	_Atomic int inside, most, visits;
};

static void *visit(void *arg)
{
	struct rooms *r = arg;

	for (int i = 0; i < 200; i++) {
		fiber_sem_wait(&r->sem, FIBER_FOREVER);
		const int now = ++r->inside;
		int most = r->most;

		while (now > most && !atomic_compare_exchange_weak(&r->most, &most, now))
			;
		fiber_yield();
		r->inside--;
		r->visits++;
		fiber_sem_post(&r->sem);
	}
	return NULL;
}

static void test_sync_sem_lets_in_no_more_than_its_count(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct rooms r = {0};
	struct fiber *fibers[20];
	pthread_t thread;

	(void)state;
	fiber_sem_init(&r.sem, 3);
	for (int i = 0; i < 20; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, visit, &r, &fibers[i]), 0);
	assert_int_equal(pthread_create(&thread, NULL, visit, &r), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(fiber_join(fibers[i], NULL, FIBER_FOREVER), 0);
	pthread_join(thread, NULL);
	assert_int_equal(r.visits, 21 * 200);
	assert_in_range(r.most, 1, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fiber_sem_wait(&r.sem, 0), 0);
	assert_int_equal(fiber_sem_wait(&r.sem, 0), -ETIMEDOUT);
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sync_mutex_guards_a_counter_of_fibers_and_threads),
		cmocka_unit_test(test_sync_mutex_with_deadlines_is_held_by_one_and_left_free),
		cmocka_unit_test(test_sync_mutex_serves_in_the_order_they_came),
		cmocka_unit_test(test_sync_mutex_that_others_hog_is_had_by_whoever_waits),
		cmocka_unit_test(test_sync_cond_passes_every_item_through_a_bounded_buffer),
		cmocka_unit_test(test_sync_cond_times_out_with_the_mutex_held),
		cmocka_unit_test(test_sync_sem_lets_in_no_more_than_its_count),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
