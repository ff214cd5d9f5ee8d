/* SPDX-License-Identifier: MIT */
/*
 * test_recorder.c - the recorded events are what the fibers did
 *
 * Fibers do a known number of things on one carrier and on two. The events are counted, and
 * replayed through a model of what a fiber can do next.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "carriers.h"
#include "sched/recorder.h"
#include "tests/harness/watchdog.h"
#include "wait/wait.h"

#define FIBERS 20
#define YIELDS 30
#define PARKS  10
#define ROOM   65536u

static struct fib_sched s;
static struct fib_event event[ROOM];
static unsigned count[FIB_EVENT_COUNT], yields, parks, events;
static struct fiber *worker[FIBERS];

/* Yields a known number of times and is parked a known number of times. */
static void *work(void *arg)
{
	unsigned i;

	for (i = 0; i < YIELDS; i++)
		fiber_yield();
	for (i = 0; i < PARKS; i++)
		fiber_park(FIBER_FOREVER);
	return arg;
}

/* The fiber has left its carrier, so that an unpark wakes it and leaves no token. */
static bool parked(const struct fiber *f)
{
	return !(fib_load_acquire(&f->seq) & 1) &&
	       (fib_load_acquire(&f->parker.word) & FIB_OUTCOME_MASK) == FIB_OUTCOME_ARMED_PARK;
}

static void *lead(void *arg)
{
	unsigned i, k;

	for (i = 0; i < FIBERS; i++)
		must(fiber_spawn(work, NULL, &worker[i]) == 0);
	for (k = 0; k < PARKS; k++)
		for (i = 0; i < FIBERS; i++) {
			while (!parked(worker[i]))
				fiber_yield();
			fiber_unpark(worker[i]);
		}
	for (i = 0; i < FIBERS; i++)
		must(fiber_join(worker[i], NULL, FIBER_FOREVER) == 0);
	return arg;
}

static void take(unsigned carriers)
{
	struct fib_recorder *r = fib_recorder_of(&s);
	unsigned ring, i, n;

	memset(count, 0, sizeof count);
	events = yields = parks = 0;
	assert_int_equal(r->rings, carriers + 1);
	for (ring = 0; ring < r->rings; ring++) {
		n = fib_event_ring_read(&r->ring[ring], event, ROOM);
		assert_int_equal(r->ring[ring].lost, 0);
		for (i = 0; i < n; i++) {
			const struct fib_event *e = &event[i];

			assert_in_range(e->type, FIB_EVENT_RUN, FIB_EVENT_COUNT - 1);
			if (i && e->type != FIB_EVENT_NAME && event[i - 1].type != FIB_EVENT_NAME)
				assert_true(e->time >= event[i - 1].time);
			count[e->type]++;
			if (e->type != FIB_EVENT_RUN)
				continue;
			yields += e->state == FIBER_RUNNABLE && e->kind == FIB_WAIT_YIELD;
			parks += e->state == FIBER_SUSPENDED && e->kind == FIB_WAIT_PARK;
		}
		events += n;
	}
}

static void *lead_plainly(void *arg)
{
	const char *broken = lead(NULL);

	(void)arg;
	return (void *)(uintptr_t)broken;
}

/* Let each carrier notice the recording when it looks for outside work. Drop the events noted
 * until then. */
static void warm_up(void)
{
	struct fib_recorder *r = fib_recorder_of(&s);
	unsigned i;

	assert_int_equal(
		fiber_join(carriers_spawn(&s, NULL, lead_plainly, NULL), NULL, FIBER_FOREVER), 0);
	for (i = 0; i < r->rings; i++)
		fib_event_ring_begin(&r->ring[i]);
}

static void run(unsigned carriers)
{
	struct fiber_result result = {0};
	struct fiber *first;

	carriers_start(&s, carriers);
	assert_int_equal(fib_recorder_start(&s, ROOM), 0);
	assert_int_equal(fib_recorder_start(&s, ROOM), -EBUSY);
	warm_up();
	first = carriers_spawn(&s, "the first of all of them", lead_plainly, NULL);
	assert_int_equal(fiber_join(first, &result, FIBER_FOREVER), 0);
	assert_null(result.value);
	while (!fib_close(&s))
		fib_live_await(&s, false, INT64_MAX);
	take(carriers);
	fib_recorder_stop(&s);
	assert_null(fib_recorder_of(&s));
	fib_sched_stop(&s);
}

static void test_recorder_notes_every_life_and_every_wait(void **state)
{
	unsigned carriers;

	(void)state;
	for (carriers = 1; carriers <= 4; carriers *= 2) {
		run(carriers);
		assert_int_equal(count[FIB_EVENT_SPAWN], FIBERS + 1);
		assert_int_equal(count[FIB_EVENT_EXIT], FIBERS + 1);
		assert_int_equal(parks, FIBERS * PARKS);
		/* There is one wake for every park, and perhaps one for each join. */
		assert_true(count[FIB_EVENT_WAKE] >= FIBERS * PARKS);
		assert_true(count[FIB_EVENT_WAKE] <= FIBERS * PARKS + FIBERS);
		/* "the first of all of them" takes two events. */
		assert_int_equal(count[FIB_EVENT_NAME], 2);
		if (carriers == 1) {
			assert_true(yields >= FIBERS * YIELDS);
			assert_int_equal(count[FIB_EVENT_STEAL], 0);
		}
	}
}

/* On one carrier there is one ring, and the fiber switched away from is the one that ran. */
static void test_recorder_tells_who_ran_after_whom(void **state)
{
	struct fib_recorder *r;
	uint64_t runs = 0, exits = 0;
	unsigned i, n;
	bool ended = false, known = false;

	(void)state;
	carriers_start(&s, 1);
	assert_int_equal(fib_recorder_start(&s, ROOM), 0);
	r = fib_recorder_of(&s);
	warm_up();
	assert_int_equal(
		fiber_join(carriers_spawn(&s, "lead", lead_plainly, NULL), NULL, FIBER_FOREVER), 0);
	while (!fib_close(&s))
		fib_live_await(&s, false, INT64_MAX);
	n = fib_event_ring_read(&r->ring[0], event, ROOM);
	assert_true(n > FIBERS * (YIELDS + PARKS));
	for (i = 0; i < n; i++) {
		const struct fib_event *e = &event[i];

		if (e->type == FIB_EVENT_EXIT) {
			assert_int_equal(e->fiber, runs);
			ended = true;
			exits++;
		} else if (e->type == FIB_EVENT_WAKE && e->object) {
			assert_int_equal(e->object, runs);
			assert_int_not_equal(e->fiber, runs);
		} else if (e->type == FIB_EVENT_RUN) {
			if (ended)
				assert_int_equal(e->state, FIBER_DEAD);
			else if (!known)
				known = true; /* a fiber of the warm-up */
			else if (runs)
				assert_in_range(e->state, FIBER_RUNNABLE, FIBER_SUSPENDED);
			else
				assert_int_equal(e->state, FIB_EVENT_NOBODY);
			ended = false;
			runs = e->fiber;
		}
	}
	assert_int_equal(exits, FIBERS + 1);
	fib_recorder_stop(&s);
	fib_sched_stop(&s);
}

static void test_recorder_that_is_off_notes_nothing(void **state)
{
	struct fib_recorder *r;
	uint64_t head[3];
	unsigned i;

	(void)state;
	carriers_start(&s, 2);
	assert_int_equal(fib_recorder_start(&s, 256), 0);
	r = fib_recorder_of(&s);
	fib_recorder_stop(&s);
	/* The carriers notice the end of the recording at their next look for outside work. */
	assert_int_equal(
		fiber_join(carriers_spawn(&s, "lead", lead_plainly, NULL), NULL, FIBER_FOREVER), 0);
	for (i = 0; i < 3; i++)
		head[i] = fib_load(&r->ring[i].head);
	assert_int_equal(
		fiber_join(carriers_spawn(&s, "lead", lead_plainly, NULL), NULL, FIBER_FOREVER), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(fib_load(&r->ring[i].head), head[i]);
	carriers_stop(&s);
}

static void test_recorder_uses_its_rings_again(void **state)
{
	struct fib_recorder *r;

	(void)state;
	carriers_start(&s, 2);
	assert_int_equal(fib_recorder_start(&s, 256), 0);
	r = fib_recorder_of(&s);
	assert_false(fib_recorder_trim(&s)); /* not while recording */
	fib_recorder_stop(&s);
	assert_true(fib_recorder_trim(&s));
	while (fib_recorder_trim(&s))
		;
	assert_int_equal(fib_recorder_start(&s, 512), 0);
	assert_ptr_not_equal(fib_recorder_of(&s), r);
	fib_recorder_stop(&s);
	assert_int_equal(fib_recorder_start(&s, 256), 0);
	assert_ptr_equal(fib_recorder_of(&s), r);
	carriers_stop(&s);
}

static void test_recorder_that_is_too_small_counts_what_it_loses(void **state)
{
	struct fib_recorder *r;
	unsigned i, n;
	uint64_t all = 0;

	(void)state;
	carriers_start(&s, 1);
	assert_int_equal(fib_recorder_start(&s, FIB_RECORDER_LEAST), 0);
	r = fib_recorder_of(&s);
	assert_int_equal(
		fiber_join(carriers_spawn(&s, "lead", lead_plainly, NULL), NULL, FIBER_FOREVER), 0);
	while (!fib_close(&s))
		fib_live_await(&s, false, INT64_MAX);
	for (i = 0; i < r->rings; i++) {
		n = fib_event_ring_read(&r->ring[i], event, ROOM);
		assert_int_equal(r->ring[i].lost + n, fib_load(&r->ring[i].head));
		all += r->ring[i].lost;
	}
	assert_true(all > 0);
	fib_sched_stop(&s);
}

static void test_recorder_hears_of_wakes_from_other_threads(void **state)
{
	struct fib_recorder *r;
	struct fiber *f;
	unsigned n, i, wakes = 0;

	(void)state;
	carriers_start(&s, 2);
	assert_int_equal(fib_recorder_start(&s, 256), 0);
	r = fib_recorder_of(&s);
	f = carriers_spawn(&s, NULL, work, NULL);
	for (i = 0; i < PARKS; i++) {
		while (!parked(f))
			fib_os_yield();
		fiber_unpark(f);
	}
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	n = fib_event_ring_read(&r->ring[2], event, ROOM);
	for (i = 0; i < n; i++) {
		if (event[i].type != FIB_EVENT_WAKE)
			continue;
		assert_int_equal(event[i].object, FIB_HOLDER_THREAD | fib_os_tid());
		assert_int_equal(event[i].kind, FIB_WAIT_PARK);
		wakes++;
	}
	assert_int_equal(wakes, PARKS);
	carriers_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorder_notes_every_life_and_every_wait),
		cmocka_unit_test(test_recorder_tells_who_ran_after_whom),
		cmocka_unit_test(test_recorder_that_is_off_notes_nothing),
		cmocka_unit_test(test_recorder_uses_its_rings_again),
		cmocka_unit_test(test_recorder_that_is_too_small_counts_what_it_loses),
		cmocka_unit_test(test_recorder_hears_of_wakes_from_other_threads),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
