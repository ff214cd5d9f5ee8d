/* SPDX-License-Identifier: MIT */
/*
 * test_by_id.c - cancelling or waking by number reaches the fiber with that number
 *
 * The race: short-lived fibers are in records that are reused at once, while their numbers are
 * cancelled from outside. At its end each fiber checks whether it was cancelled. Only fibers whose
 * number was given may have been cancelled.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "core/hazard.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "wait/by_id.h"
#include "wait/wait.h"

static uint64_t index_of(const struct fiber *fiber)
{
	return (uint64_t)(fiber - fib_registry_at(0));
}

static void await(struct fiber *fiber, enum fiber_state state)
{
	while (fiber_state(fiber) != state)
		fib_os_yield();
}

static void *parks(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_park(FIBER_FOREVER);
}

static void *sleeps_and_parks(void *arg)
{
	(void)arg;
	if (fiber_sleep(INT64_C(3600000000000)) != -ECANCELED)
		return NULL;
	return (void *)(intptr_t)fiber_park(FIBER_FOREVER);
}

static intptr_t joined(struct fiber *fiber)
{
	struct fiber_result result = {0};

	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	return (intptr_t)result.value;
}

static struct fib_sched sched;

/* Start one carrier and spawn a fiber that waits on it. */
static struct fiber *waiting(void *(*fn)(void *))
{
	struct fiber *f;

	carriers_start(&sched, 1);
	f = carriers_spawn(&sched, "waiting", fn, NULL);
	await(f, FIBER_SUSPENDED);
	return f;
}

/* Return the fiber's result after it has exited. */
static intptr_t ended(struct fiber *fiber)
{
	intptr_t value = joined(fiber);

	carriers_stop(&sched);
	return value;
}

static void test_act_cancel_ends_the_wait_and_those_that_follow(void **state)
{
	struct fiber *f = waiting(sleeps_and_parks);

	(void)state;
	assert_int_equal(fib_cancel_by_id(index_of(f), f->id), 1);
	assert_int_equal(ended(f), -ECANCELED);
}

static void test_act_wake_ends_a_park_and_leaves_nothing_behind(void **state)
{
	struct fiber *f = waiting(parks);

	(void)state;
	assert_int_equal(fib_wake_by_id(index_of(f), f->id), 0);
	assert_int_equal(ended(f), 0);
}

static void test_act_wake_is_refused_for_any_other_wait(void **state)
{
	struct fiber *f = waiting(sleeps_and_parks);

	(void)state;
	assert_int_equal(fib_wake_by_id(index_of(f), f->id), -EINVAL);
	assert_int_equal(fib_load(&f->token), 0);
	fiber_cancel(f);
	assert_int_equal(ended(f), -ECANCELED);
}

static void refused(uint64_t index, uint64_t id)
{
	assert_int_equal(fib_cancel_by_id(index, id), -ESRCH);
	assert_int_equal(fib_wake_by_id(index, id), -ESRCH);
}

static void test_act_on_a_fiber_that_has_ended_is_refused(void **state)
{
	struct fiber *f = waiting(parks);
	const uint64_t id = f->id;

	(void)state;
	fiber_unpark(f);
	await(f, FIBER_DEAD);
	refused(index_of(f), id);
	assert_int_equal(joined(f), 0);
	refused(index_of(f), id);
	carriers_stop(&sched);
}

static void test_act_cancel_of_one_that_does_not_wait_is_told_by_its_next_wait(void **state)
{
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	carriers_start(&s, 1);
	assert_int_equal(fib_make(NULL, &s, parks, NULL, NULL, &f), 0);
	assert_int_equal(fib_cancel_by_id(index_of(f), f->id), 0);
	assert_int_equal(fib_submit(&s, f), 0);
	assert_int_equal(joined(f), -ECANCELED);
	carriers_stop(&s);
}

/* -- the race -- */

#define NUMBERS	 (UINT64_C(1) << 22) /* by the lowest bits of the id */
#define TIMES	 100000u
#define LIVES	 8u /* fibers at the same time, for each carrier */
#define CARRIERS 2u
#define AGAIN	 32u /* most ids that are cancelled again */
#define RECORDS	 256u
#define LONGEST	 INT64_C(20000000000) /* ns; a slow machine may not reach TIMES */

static struct {
	_Atomic uint8_t asked[NUMBERS]; /* by id: a cancellation was requested */
	_Atomic uint32_t wrong, cancelled, ended;
	_Atomic bool stop;
} race;

/* Some fibers yield, some park briefly, some exit at once; any may meet a hold on its record. */
static void *lives(void *arg)
{
	struct fiber *self = fiber_self();
	const uint64_t id = self->id;

	(void)arg;
	if (id % 3 == 0)
		fiber_yield();
	else if (id % 3 == 1)
		fiber_park(fiber_after(20000));
	if (fiber_cancelled()) {
		fib_add(&race.cancelled, 1);
		if (!fib_load(&race.asked[id % NUMBERS]))
			fib_add(&race.wrong, 1);
	}
	fib_add(&race.ended, 1);
	return NULL;
}

static void *spawns(void *arg)
{
	struct fiber *made[LIVES];
	unsigned i;

	while (!fib_load(&race.stop)) {
		for (i = 0; i < LIVES; i++)
			must(fiber_spawn(lives, NULL, i % 2 ? &made[i] : NULL) == 0);
		for (i = 1; i < LIVES; i += 2)
			must(fiber_join(made[i], NULL, FIBER_FOREVER) == 0);
		must(!fiber_cancelled());
	}
	return arg;
}

/*
 * Cancel every second id that is seen, and again while other ids are cancelled. Its fiber may then
 * be in the middle of its life or at its end, or its record may have another fiber. Returns how
 * many cancellations hit.
 */
static unsigned cancel_at_random(unsigned times, uint64_t after, unsigned *ret_asked)
{
	const int64_t end = fib_os_now() + LONGEST;
	struct {
		uint64_t at, id;
	} seen[AGAIN] = {{0, 0}};
	/* ThreadSanitizer makes and ends fibers slowly. */
	const unsigned again = strcmp(harness_sanitizer(), "thread") == 0 ? AGAIN : 4;
	unsigned i = 0, k, asked = 0, before = 0, hits = 0;
	uint64_t at, id;

	for (at = 0; asked < times; at = (at + 1) % RECORDS) {
		if (at == 0) {
			if (fib_os_now() > end)
				break;
			/* No new fiber appears while this thread has their CPU. */
			if (asked == before)
				fib_os_yield();
			before = asked;
		}
		id = fib_observe(&fib_registry_at(at)->id);
		/* The spawning fibers have ids up to `after`. */
		if (id <= after || id % 2 == 0 || fib_swap_seq(&race.asked[id % NUMBERS], 1))
			continue;
		seen[i % again].at = at;
		seen[i++ % again].id = id;
		for (k = 0; k < again && k < i; k++) {
			hits += fib_cancel_by_id(seen[k].at, seen[k].id) >= 0;
			asked++;
		}
	}
	*ret_asked = asked;
	return hits;
}

static void run_race(unsigned times)
{
	struct fiber *spawners[CARRIERS];
	struct fib_sched s;
	unsigned i, asked, hits;

	memset(&race, 0, sizeof race);
	carriers_start(&s, CARRIERS);
	for (i = 0; i < CARRIERS; i++)
		spawners[i] = carriers_spawn(&s, "spawner", spawns, NULL);
	hits = cancel_at_random(times, fiber_id(spawners[CARRIERS - 1]), &asked);
	fib_store(&race.stop, true);
	for (i = 0; i < CARRIERS; i++)
		assert_int_equal(joined(spawners[i]), 0);
	carriers_stop(&s);
	assert_int_equal(fib_load(&race.wrong), 0);
	assert_true(hits > 0);
	assert_true(fib_load(&race.cancelled) > 0);
	assert_true(fib_load(&race.cancelled) <= hits);
	assert_int_equal(carriers_fibers(), 0); /* every held record was freed */
	print_message("# %u asked, %u hit, %u of %u fibers saw it\n", asked, hits,
		      fib_load(&race.cancelled), fib_load(&race.ended));
}

static void test_act_cancel_hits_nobody_else_when_records_are_used_again(void **state)
{
	(void)state;
	run_race(TIMES);
}

/* Run as on a kernel without membarrier(2). The mark cannot be undone, so this test is the last. */
static void test_act_cancel_hits_nobody_else_where_ends_fence(void **state)
{
	(void)state;
	fib_hazard_fence_ends();
	run_race(TIMES / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_act_cancel_hits_nobody_else_when_records_are_used_again),
		cmocka_unit_test(test_act_cancel_ends_the_wait_and_those_that_follow),
		cmocka_unit_test(test_act_wake_ends_a_park_and_leaves_nothing_behind),
		cmocka_unit_test(test_act_wake_is_refused_for_any_other_wait),
		cmocka_unit_test(test_act_on_a_fiber_that_has_ended_is_refused),
		cmocka_unit_test(
			test_act_cancel_of_one_that_does_not_wait_is_told_by_its_next_wait),
		cmocka_unit_test(test_act_cancel_hits_nobody_else_where_ends_fence),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
