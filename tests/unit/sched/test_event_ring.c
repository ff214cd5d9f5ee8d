/* SPDX-License-Identifier: MIT */
/*
 * test_event_ring.c - a reader gets events whole and in order, and lost events are counted
 *
 * Every word of an event has the event's number, so that a torn event shows.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "sched/event_ring.h"
#include "tests/harness/watchdog.h"

#define SLOTS  64u
#define EVENTS 2000000u

static struct fib_event_slot slots[SLOTS];
static struct fib_event_ring ring;

static void make(void)
{
	ring = (struct fib_event_ring){.mask = SLOTS - 1, .slots = slots};
}

static void put(uint64_t n)
{
	fib_event_put(&ring, n, n + 1, n + 2,
		      fib_event_what((unsigned)n & 255, (unsigned)n & 127, 3, 4, (uint32_t)n));
}

static void expect(const struct fib_event *e, uint64_t n)
{
	assert_int_equal(e->time, n);
	assert_int_equal(e->fiber, n + 1);
	assert_int_equal(e->object, n + 2);
	assert_int_equal(e->type, n & 255);
	assert_int_equal(e->kind, n & 127);
	assert_int_equal(e->state, 3);
	assert_int_equal(e->flags, 4);
	assert_int_equal(e->arg, (uint32_t)n);
}

static void test_ring_gives_what_was_put_in_its_order(void **state)
{
	struct fib_event e[SLOTS];
	unsigned i;

	(void)state;
	make();
	assert_false(fib_event_ring_more(&ring));
	assert_int_equal(fib_event_ring_read(&ring, e, SLOTS), 0);
	for (i = 0; i < 10; i++)
		put(i);
	assert_true(fib_event_ring_more(&ring));
	assert_int_equal(fib_event_ring_read(&ring, e, 4), 4);
	assert_int_equal(fib_event_ring_read(&ring, e + 4, SLOTS - 4), 6);
	for (i = 0; i < 10; i++)
		expect(&e[i], i);
	assert_int_equal(ring.lost, 0);
	assert_false(fib_event_ring_more(&ring));
}

static void test_ring_begins_with_what_comes(void **state)
{
	struct fib_event e[SLOTS];

	(void)state;
	make();
	put(1);
	ring.lost = 7;
	fib_event_ring_begin(&ring);
	put(2);
	assert_int_equal(fib_event_ring_read(&ring, e, SLOTS), 1);
	expect(&e[0], 2);
	assert_int_equal(ring.lost, 0);
}

/*
 * The result equals a model's: the newest events since the last read that fit. One slot may be in
 * the middle of a write.
 */
static void test_ring_counts_what_was_written_over(void **state)
{
	struct fib_event e[SLOTS];
	uint64_t written = 0, read = 0, lost = 0, oldest;
	unsigned round, i, n, wanted;

	(void)state;
	make();
	srandom(4711);
	for (round = 0; round < 20000; round++) {
		for (n = (unsigned)random() % (SLOTS * 3); n; n--)
			put(written++);
		wanted = 1 + (unsigned)random() % SLOTS;
		n = fib_event_ring_read(&ring, e, wanted);
		oldest = written > SLOTS - 1 ? written - (SLOTS - 1) : 0;
		if (read < oldest) {
			lost += oldest - read;
			read = oldest;
		}
		assert_int_equal(n, written - read < wanted ? written - read : wanted);
		for (i = 0; i < n; i++)
			expect(&e[i], read + i);
		read += n;
		assert_int_equal(ring.lost, lost);
	}
	assert_true(lost > 0);
}

static void *write_all(void *arg)
{
	uint64_t n;

	for (n = 0; n < EVENTS; n++)
		put(n);
	return arg;
}

static void test_ring_gives_no_torn_event_while_it_is_written(void **state)
{
	struct fib_event e[16];
	pthread_t writer;
	uint64_t next = 0, got = 0, lost = 0;
	unsigned i, n;

	(void)state;
	make();
	assert_int_equal(pthread_create(&writer, NULL, write_all, NULL), 0);
	while (next < EVENTS) {
		n = fib_event_ring_read(&ring, e, 16);
		next += ring.lost - lost;
		lost = ring.lost;
		for (i = 0; i < n; i++)
			expect(&e[i], next + i);
		next += n;
		got += n;
	}
	pthread_join(writer, NULL);
	assert_int_equal(got + lost, EVENTS);
	assert_true(got > 0);
	assert_false(fib_event_ring_more(&ring));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_gives_what_was_put_in_its_order),
		cmocka_unit_test(test_ring_begins_with_what_comes),
		cmocka_unit_test(test_ring_counts_what_was_written_over),
		cmocka_unit_test(test_ring_gives_no_torn_event_while_it_is_written),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
