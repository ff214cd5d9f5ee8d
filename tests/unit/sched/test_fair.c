/* SPDX-License-Identifier: MIT */
/*
 * test_fair.c - how long a runnable fiber waits for the CPU, counted in switches
 *
 * Times depend on the machine, counts on the scheduler. On one carrier the number of switches
 * between becoming runnable and running has a bound on every machine. Two fibers that wake each
 * other, by any primitive, keep a third fiber waiting for at most 64 switches.
 *
 * An expired deadline waits for one look at the clock, every FIB_LOOK_EVERY switches, and is then
 * queued behind the runnable fibers: some microseconds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fiber/chan.h>
#include <fiber/sync.h>

#include "carriers.h"
#include "tests/harness/watchdog.h"

static bool over;

/* -- two fibers that wake each other -- */

static struct fiber *pair[2];
static struct fiber_mutex mutex;
static struct fiber_rwlock rwlock;
static struct fiber_cond cond;
static struct fiber_sem sems[2];
static struct fiber_event events[2];
static struct fiber_chan *chans[2];
static int turn;

static void over_park(int me)
{
	while (!over) {
		fiber_unpark(pair[!me]);
		fiber_park(FIBER_FOREVER);
	}
	fiber_unpark(pair[!me]);
}

/* Each unlock hands the mutex to the other fiber. */
static void over_mutex(int me)
{
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	if (!me)
		fiber_yield(); /* until the other fiber waits */
	while (!over) {
		fiber_mutex_unlock(&mutex);
		fiber_mutex_lock(&mutex, FIBER_FOREVER);
	}
	fiber_mutex_unlock(&mutex);
}

static void over_rwlock(int me)
{
	fiber_rwlock_wrlock(&rwlock, FIBER_FOREVER);
	if (!me)
		fiber_yield(); /* until the other fiber waits */
	while (!over) {
		fiber_rwlock_unlock(&rwlock);
		fiber_rwlock_wrlock(&rwlock, FIBER_FOREVER);
	}
	fiber_rwlock_unlock(&rwlock);
}

static void over_cond(int me)
{
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	while (!over) {
		turn = !me;
		fiber_cond_signal(&cond);
		while (turn != me && !over)
			fiber_cond_wait(&cond, &mutex, FIBER_FOREVER);
	}
	fiber_cond_signal(&cond);
	fiber_mutex_unlock(&mutex);
}

static void over_sem(int me)
{
	while (!over) {
		fiber_sem_post(&sems[!me]);
		fiber_sem_wait(&sems[me], FIBER_FOREVER);
	}
	fiber_sem_post(&sems[!me]);
}

static void over_event(int me)
{
	while (!over) {
		fiber_event_set(&events[!me]);
		fiber_event_wait(&events[me], FIBER_FOREVER);
		fiber_event_reset(&events[me]);
	}
	fiber_event_set(&events[!me]);
}

static void over_chan(int me)
{
	char c = 0;

	/* Only one fiber sends first; otherwise both would. */
	while (!over) {
		if (me)
			fiber_chan_recv(chans[0], &c, FIBER_FOREVER);
		fiber_chan_send(chans[me], &c, FIBER_FOREVER);
		if (!me)
			fiber_chan_recv(chans[1], &c, FIBER_FOREVER);
	}
	fiber_chan_close(chans[0]);
	fiber_chan_close(chans[1]);
}

static void over_select(int me)
{
	struct fiber_select_case cases[2] = {
		{.op = FIBER_SELECT_SEND, .chan = chans[me], .elem = &turn},
		{.op = FIBER_SELECT_RECV, .chan = chans[!me], .elem = &turn},
	};

	while (!over)
		fiber_select(cases, 2, FIBER_FOREVER);
	fiber_chan_close(chans[0]);
	fiber_chan_close(chans[1]);
}

static void (*wakes_the_other)(int me);

static void *member(void *arg)
{
	wakes_the_other((int)(intptr_t)arg);
	return NULL;
}

/* How many times the two have run. */
static uint64_t runs(void)
{
	return (fib_load(&pair[0]->seq) + fib_load(&pair[1]->seq)) / 2;
}

static void *third(void *arg)
{
	uint64_t before, longest = 0, all;
	int i;

	over = false;
	must(fiber_chan_new(1, (size_t)(uintptr_t)arg, &chans[0]) == 0);
	must(fiber_chan_new(1, (size_t)(uintptr_t)arg, &chans[1]) == 0);
	for (i = 0; i < 2; i++)
		must(fiber_spawn(member, (void *)(intptr_t)i, &pair[i]) == 0);
	for (i = 0; i < 1000; i++) {
		before = runs();
		fiber_yield();
		longest = runs() - before > longest ? runs() - before : longest;
	}
	all = runs();
	over = true;
	fiber_join(pair[0], NULL, FIBER_FOREVER);
	fiber_join(pair[1], NULL, FIBER_FOREVER);
	fiber_chan_unref(chans[0]);
	fiber_chan_unref(chans[1]);
	must(longest <= 64);
	must(all > 2000); /* the two did wake each other, more than one yield each time */
	return NULL;
}

static void pair_over(void (*how)(int me), uintptr_t room)
{
	wakes_the_other = how;
	prove(1, third, (void *)room);
}

static void test_fair_to_a_third_beside_two_that_park(void **state)
{
	(void)state;
	pair_over(over_park, 0);
}

static void test_fair_to_a_third_beside_two_with_a_lock(void **state)
{
	(void)state;
	pair_over(over_mutex, 0);
	pair_over(over_rwlock, 0);
}

static void test_fair_to_a_third_beside_two_with_a_condition(void **state)
{
	(void)state;
	pair_over(over_cond, 0);
}

static void test_fair_to_a_third_beside_two_with_semaphores(void **state)
{
	(void)state;
	pair_over(over_sem, 0);
}

static void test_fair_to_a_third_beside_two_with_events(void **state)
{
	(void)state;
	pair_over(over_event, 0);
}

static void test_fair_to_a_third_beside_two_with_channels(void **state)
{
	(void)state;
	pair_over(over_chan, 0);
	pair_over(over_chan, 1);
	pair_over(over_select, 0);
}

/* -- a deadline beside many fibers that yield -- */

#define YIELDERS 1000u
#define NAPS	 100u

static unsigned switches, due_at, latest;
static int64_t due;

/* Note the number of switches when the deadline has expired. */
static void *yields_and_looks_at_the_clock(void *arg)
{
	while (!over) {
		switches++;
		if (!due_at && fiber_now() >= due)
			due_at = switches;
		fiber_yield();
	}
	return arg;
}

static void *sleeps_among_yielders(void *arg)
{
	unsigned i, n = (unsigned)(uintptr_t)arg, lateness;

	over = false;
	due = FIBER_FOREVER;
	latest = due_at = 0;
	for (i = 0; i < n; i++)
		must(fiber_spawn(yields_and_looks_at_the_clock, NULL, NULL) == 0);
	for (i = 0; i < NAPS; i++) {
		due_at = 0;
		due = fiber_after(20000 + (int64_t)i * 1000);
		must(fiber_sleep_until(due) == 0);
		/* No yielding fiber saw the deadline expire before this fiber ran: it was not
		 * late at all. */
		lateness = due_at ? switches - due_at : 0;
		latest = lateness > latest ? lateness : latest;
	}
	over = true;
	must(n == 1 || latest > 0); /* in some round a fiber saw it expire */
	must(latest <= FIB_LOOK_EVERY + n + 1);
	return NULL;
}

static void test_fair_to_a_deadline_beside_fibers_that_yield(void **state)
{
	(void)state;
	prove(1, sleeps_among_yielders, (void *)(uintptr_t)1);
	prove(1, sleeps_among_yielders, (void *)(uintptr_t)FIB_RING);
	prove(1, sleeps_among_yielders, (void *)(uintptr_t)YIELDERS);
}

static unsigned asleep;

static void *sleeps_until_the_same_time(void *arg)
{
	unsigned lateness;

	fiber_sleep_until(due);
	lateness = due_at ? switches - due_at : 0;
	latest = lateness > latest ? lateness : latest;
	asleep--;
	return arg;
}

/* A look takes as many timers out of the heap as fibers run until the next look. So all sleepers
 * run within their looks and one round of the others. */
static void *many_sleep_among_yielders(void *arg)
{
	unsigned i;

	over = false;
	latest = due_at = 0;
	due = fiber_after(2000000);
	asleep = 300;
	for (i = 0; i < asleep; i++)
		must(fiber_spawn(sleeps_until_the_same_time, NULL, NULL) == 0);
	for (i = 0; i < YIELDERS; i++)
		must(fiber_spawn(yields_and_looks_at_the_clock, NULL, NULL) == 0);
	while (asleep)
		fiber_yield();
	over = true;
	must(latest <= (300 / FIB_LOOK_EVERY + 1) * FIB_LOOK_EVERY + 300 + YIELDERS + 1);
	return arg;
}

static void test_fair_to_many_deadlines_at_once(void **state)
{
	(void)state;
	prove(1, many_sleep_among_yielders, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fair_to_a_third_beside_two_that_park),
		cmocka_unit_test(test_fair_to_a_third_beside_two_with_a_lock),
		cmocka_unit_test(test_fair_to_a_third_beside_two_with_a_condition),
		cmocka_unit_test(test_fair_to_a_third_beside_two_with_semaphores),
		cmocka_unit_test(test_fair_to_a_third_beside_two_with_events),
		cmocka_unit_test(test_fair_to_a_third_beside_two_with_channels),
		cmocka_unit_test(test_fair_to_a_deadline_beside_fibers_that_yield),
		cmocka_unit_test(test_fair_to_many_deadlines_at_once),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
