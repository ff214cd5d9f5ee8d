/* SPDX-License-Identifier: MIT */
/* test_switch.c - which fiber runs next, and what a switch leaves in the record */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "carriers.h"
#include "tests/harness/watchdog.h"

#define ROUNDS 50u
#define MOST   (FIB_RING * 2)

static unsigned ran[MOST];
static bool over;

static void *yielder(void *arg)
{
	unsigned *count = arg;

	while (!over) {
		++*count;
		fiber_yield();
	}
	return NULL;
}

/* Spawn n fibers that yield, and yield ROUNDS times. */
static void *fair(void *arg)
{
	unsigned n = (unsigned)(uintptr_t)arg, i, least = UINT32_MAX, most = 0;

	over = false;
	for (i = 0; i < n; i++) {
		ran[i] = 0;
		must(fiber_spawn(yielder, &ran[i], NULL) == 0);
	}
	for (i = 0; i < ROUNDS; i++)
		fiber_yield();
	over = true;
	for (i = 0; i < n; i++) {
		least = ran[i] < least ? ran[i] : least;
		most = ran[i] > most ? ran[i] : most;
	}
	must(least >= ROUNDS - 1);
	must(most <= ROUNDS + 1);
	return NULL;
}

static void test_switch_gives_every_yielding_fiber_one_turn_a_round(void **state)
{
	(void)state;
	prove(1, fair, (void *)2);
	prove(1, fair, (void *)100);
	/* One fiber more than fits into a ring, and as many as fit into two rings. */
	prove(1, fair, (void *)(FIB_RING + 1));
	prove(1, fair, (void *)MOST);
}

static struct fiber *pair[2];
static unsigned turns;

/* Wake the other fiber and park, again and again. */
static void *ping(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;

	while (!over) {
		turns++;
		fiber_unpark(pair[!me]);
		fiber_park(FIBER_FOREVER);
	}
	fiber_unpark(pair[!me]);
	return NULL;
}

static int start_pair(void)
{
	int rc;

	over = false;
	turns = 0;
	rc = fiber_spawn(ping, (void *)0, &pair[0]);
	return rc < 0 ? rc : fiber_spawn(ping, (void *)1, &pair[1]);
}

static void join_pair(void)
{
	over = true;
	fiber_join(pair[0], NULL, FIBER_FOREVER);
	fiber_join(pair[1], NULL, FIBER_FOREVER);
}

static void *third(void *arg)
{
	unsigned i, before, longest = 0, all;

	(void)arg;
	must(start_pair() == 0);
	for (i = 0; i < 1000; i++) {
		before = turns;
		fiber_yield();
		longest = turns - before > longest ? turns - before : longest;
	}
	all = turns;
	join_pair();
	must(longest <= 64);
	must(all > 1000); /* the two did run */
	return NULL;
}

static void test_switch_two_that_wake_each_other_delay_a_third_by_64_at_most(void **state)
{
	(void)state;
	prove(1, third, NULL);
}

static void *sitter(void *arg)
{
	(void)arg;
	must(start_pair() == 0);
	while (!over)
		fiber_park(FIBER_FOREVER);
	join_pair();
	return NULL;
}

static void *ender(void *arg)
{
	over = true;
	fiber_unpark(arg);
	return NULL;
}

static void test_switch_two_that_wake_each_other_do_not_keep_the_outside_out(void **state)
{
	struct fib_sched s;
	struct fiber *fiber;
	unsigned i;

	(void)state;
	for (i = 0; i < 50; i++) {
		carriers_start(&s, 1);
		fiber = carriers_spawn(&s, "sitter", sitter, NULL);
		/* A plain thread spawns, so the fiber goes into the inject queue. */
		fiber_join(carriers_spawn(&s, "ender", ender, fiber), NULL, FIBER_FOREVER);
		fiber_join(fiber, NULL, FIBER_FOREVER);
		carriers_stop(&s);
	}
}

static void *parks(void *arg)
{
	uint64_t *seq = arg;

	while (!over) {
		*seq = fib_load(&fiber_self()->seq);
		fiber_park(FIBER_FOREVER);
	}
	return NULL;
}

static void *watch_record(void *arg)
{
	uint64_t running = 0, suspended;
	struct fiber *f;

	(void)arg;
	over = false;
	must(fiber_spawn(parks, &running, &f) == 0);
	must(fiber_state(f) == FIBER_RUNNABLE);
	must(fib_load(&f->seq) == 0);
	fiber_yield();
	must(running == 1);
	suspended = fib_load(&f->seq);
	must(suspended == 2);
	must(fiber_state(f) == FIBER_SUSPENDED);
	must(fib_load(&f->wait_kind) == FIB_WAIT_PARK);
	must(f->context.sp > (uintptr_t)f->stack.low);
	must(f->context.sp < (uintptr_t)f->stack.low + f->stack.size);
	must(fiber_state(fiber_self()) == FIBER_RUNNING);
	must(fib_load(&fiber_self()->seq) % 2 == 1);
	must(fib_load(&fiber_self()->wait_kind) == FIB_WAIT_NONE);
	fiber_unpark(f);
	must(fiber_state(f) == FIBER_RUNNABLE);
	must(fib_load(&f->seq) == suspended);
	fiber_yield();
	must(running == suspended + 1);
	must(fib_load(&f->seq) == suspended + 2);
	over = true;
	fiber_unpark(f);
	must(fiber_join(f, NULL, FIBER_FOREVER) == 0);
	return NULL;
}

static void test_switch_moves_the_number_and_shows_the_state(void **state)
{
	(void)state;
	prove(1, watch_record, NULL);
}

static struct fiber *heir;

/* Exit while heir is next to run and has not started yet. */
static void *bequeaths(void *arg)
{
	must(fiber_spawn(parks, arg, &heir) == 0);
	heir->context.pc = 0; /* as in a record that was never used */
	return NULL;
}

static void *watch_heir(void *arg)
{
	struct fiber *plain, *parent;
	struct fiber_result result;
	uint64_t seq;
	bool same;

	(void)arg;
	over = false;
	must(fiber_spawn(parks, &seq, &plain) == 0);
	fiber_yield();
	must(fiber_spawn(bequeaths, &seq, &parent) == 0);
	must(fiber_join(parent, &result, FIBER_FOREVER) == 0);
	must(!result.value);
	while (fiber_state(heir) != FIBER_SUSPENDED)
		fiber_yield();
	same = heir->context.pc == plain->context.pc;
	over = true;
	fiber_unpark(heir);
	fiber_unpark(plain);
	must(fiber_join(heir, NULL, FIBER_FOREVER) == 0);
	must(fiber_join(plain, NULL, FIBER_FOREVER) == 0);
	must(same);
	return NULL;
}

static void test_switch_who_begins_where_another_ended_can_be_walked(void **state)
{
	(void)state;
	prove(1, watch_heir, NULL);
}

static void *looks_at(void *arg)
{
	struct fiber *f = arg;

	must(fiber_state(f) == FIBER_RUNNABLE);
	must(fib_load(&f->wait_kind) == FIB_WAIT_YIELD);
	must(fib_load(&f->seq) % 2 == 0);
	return NULL;
}

static void *is_looked_at(void *arg)
{
	struct fiber_result result = {0};
	struct fiber *f;

	(void)arg;
	must(fiber_spawn(looks_at, fiber_self(), &f) == 0);
	fiber_yield();
	must(fiber_state(f) == FIBER_DEAD);
	must(fiber_join(f, &result, FIBER_FOREVER) == 0);
	return result.value;
}

static void test_switch_a_fiber_that_yielded_is_runnable(void **state)
{
	(void)state;
	prove(1, is_looked_at, NULL);
}

static void *nothing(void *arg)
{
	return arg;
}

static void *spends(void *arg)
{
	struct fiber *me = fiber_self(), *f;
	int64_t began = fib_load(&me->since);

	(void)arg;
	/* No other code sets the clock: there is no timer, and the only carrier is awake. */
	fib_coarse_set(began + 7000000);
	must(me->cpu == 0);
	must(fiber_spawn(nothing, NULL, &f) == 0);
	fiber_yield();
	must(me->cpu == 7000000);
	must(fib_load(&me->since) == began + 7000000);
	must(fiber_join(f, NULL, FIBER_FOREVER) == 0);
	return NULL;
}

static void test_switch_counts_the_time_on_the_carrier(void **state)
{
	(void)state;
	prove(1, spends, NULL);
}

static void *alone(void *arg)
{
	uint64_t before = fib_load(&fiber_self()->seq);
	unsigned i;

	(void)arg;
	for (i = 0; i < 64 * FIB_LOOK_EVERY; i++)
		must(fiber_yield() == 0);
	/*
	 * The fiber's carrier looks for outside work now and then, and otherwise continues at once.
	 */
	must(fib_load(&fiber_self()->seq) - before <= 2 * 65);
	return NULL;
}

static void test_switch_a_lone_fiber_that_yields_goes_on(void **state)
{
	(void)state;
	prove(1, alone, NULL);
}

/* Yield, and check that the stack has not changed. */
static void *keeps_its_stack(void *arg)
{
	volatile uint64_t mine[64];
	unsigned i, turn;

	for (i = 0; i < 64; i++)
		mine[i] = (uintptr_t)arg * 64 + i;
	for (turn = 0; turn < 300; turn++) {
		must(fiber_yield() == 0);
		for (i = 0; i < 64; i++)
			must(mine[i] == (uintptr_t)arg * 64 + i);
	}
	return NULL;
}

static void *many_stacks(void *arg)
{
	struct fiber *fibers[200];
	struct fiber_result result;
	void *broken = NULL;
	uintptr_t i;

	(void)arg;
	for (i = 0; i < 200; i++)
		must(fiber_spawn(keeps_its_stack, (void *)i, &fibers[i]) == 0);
	for (i = 0; i < 200; i++) {
		fiber_join(fibers[i], &result, FIBER_FOREVER);
		broken = result.value ? result.value : broken;
	}
	return broken;
}

static void test_switch_keeps_every_stack_on_several_carriers(void **state)
{
	(void)state;
	prove(1, many_stacks, NULL);
	prove(2, many_stacks, NULL);
	prove(4, many_stacks, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switch_gives_every_yielding_fiber_one_turn_a_round),
		cmocka_unit_test(test_switch_two_that_wake_each_other_delay_a_third_by_64_at_most),
		cmocka_unit_test(test_switch_two_that_wake_each_other_do_not_keep_the_outside_out),
		cmocka_unit_test(test_switch_moves_the_number_and_shows_the_state),
		cmocka_unit_test(test_switch_who_begins_where_another_ended_can_be_walked),
		cmocka_unit_test(test_switch_a_fiber_that_yielded_is_runnable),
		cmocka_unit_test(test_switch_counts_the_time_on_the_carrier),
		cmocka_unit_test(test_switch_a_lone_fiber_that_yields_goes_on),
		cmocka_unit_test(test_switch_keeps_every_stack_on_several_carriers),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
