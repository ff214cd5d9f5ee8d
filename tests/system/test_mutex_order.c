/* SPDX-License-Identifier: MIT */
/*
 * test_mutex_order.c - a contended mutex is handed over first in, first out, and never to a waiter
 * that left
 *
 * Each waiter, a fiber or a thread, is in the queue before the next one comes, on every number of
 * carriers. The holder records its number while it holds the mutex.
 */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>

#define LINE 48

struct line {
	struct fiber_mutex mutex;
	unsigned served[LINE], count; /* under mutex */
	unsigned inside, crowded;     /* under mutex */
};

struct place {
	struct line *line;
	unsigned number;
	bool is_thread;
	int64_t deadline;
	int rc;
	pthread_t thread;
	struct fiber *fiber;
};

/* The last waiter's node, NULL: none. Read without the mutex's internal lock. */
__attribute__((noinline, no_sanitize("thread"))) static void *last(struct line *l)
{
	return *(void *volatile *)&l->mutex.waiters.tail;
}

static void *stand(void *arg)
{
	struct place *p = arg;
	struct line *l = p->line;

	p->rc = fiber_mutex_lock(&l->mutex, p->deadline);
	if (p->rc < 0)
		return NULL;
	l->crowded += l->inside++ != 0;
	l->served[l->count++] = p->number;
	/* Held over a switch, so that others arrive meanwhile. */
	if (p->number % 3 == 0)
		carriers_pause();
	l->inside--;
	fiber_mutex_unlock(&l->mutex);
	return NULL;
}

/* Start a waiter and wait until it is queued behind the earlier ones; false if one may have left
 * before that. */
static bool come(struct fiber_runtime *rt, struct place *p, int64_t until)
{
	const void *before = last(p->line);

	p->rc = 1;
	if (p->is_thread)
		assert_int_equal(pthread_create(&p->thread, NULL, stand, p), 0);
	else
		assert_int_equal(fiber_runtime_spawn(rt, NULL, stand, p, &p->fiber), 0);
	while (last(p->line) == before)
		if (fiber_now() >= until)
			return false;
	return fiber_now() < until;
}

static void go(struct place *p)
{
	if (p->is_thread)
		pthread_join(p->thread, NULL);
	else
		assert_int_equal(fiber_join(p->fiber, NULL, FIBER_FOREVER), 0);
}

/*
 * Assert that exactly the waiters that got the mutex are recorded, in order and one at a time, and
 * that the mutex is free.
 */
static unsigned assert_in_order(struct line *l, const struct place *places, unsigned n)
{
	unsigned i, granted = 0;

	for (i = 0; i < n; i++) {
		if (places[i].rc == 0) {
			assert_true(granted < l->count);
			assert_int_equal(l->served[granted], i);
			granted++;
		} else {
			assert_true(places[i].rc == -ETIMEDOUT || places[i].rc == -ECANCELED);
		}
	}
	assert_int_equal(l->count, granted);
	assert_int_equal(l->crowded, 0);
	assert_null(last(l));
	assert_int_equal(fiber_mutex_trylock(&l->mutex), 0);
	fiber_mutex_unlock(&l->mutex);
	return granted;
}

static void test_mutex_order_of_fibers_and_threads_is_the_one_in_which_they_came(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	static struct place places[LINE];
	unsigned i, round;

	(void)state;
	for (round = 0; round < 20; round++) {
		struct line line = {.count = 0};

		fiber_mutex_lock(&line.mutex, FIBER_FOREVER);
		for (i = 0; i < LINE; i++) {
			places[i] = (struct place){
				&line, i, (i + round) % 6 == 5, FIBER_FOREVER, 1, 0, NULL};
			come(rt, &places[i], FIBER_FOREVER);
		}
		fiber_mutex_unlock(&line.mutex);
		for (i = 0; i < LINE; i++)
			go(&places[i]);
		assert_int_equal(assert_in_order(&line, places, LINE), LINE);
	}
	carriers_finish(rt);
}

static bool times_out(unsigned i)
{
	return i % 6 == 1;
}

static bool is_cancelled(const struct place *p)
{
	return p->number % 6 == 4 && !p->is_thread;
}

/* False if the queue was not complete before the first deadline. */
static bool pass_over(struct fiber_runtime *rt, int64_t patience)
{
	static struct place places[LINE];
	struct line line = {.count = 0};
	const int64_t deadline = fiber_after(patience);
	bool complete = true;
	unsigned i;

	fiber_mutex_lock(&line.mutex, FIBER_FOREVER);
	for (i = 0; i < LINE; i++) {
		places[i] = (struct place){
			&line, i, i % 4 == 1, times_out(i) ? deadline : FIBER_FOREVER, 1, 0, NULL};
		complete = come(rt, &places[i], deadline) && complete;
	}
	for (i = 0; i < LINE; i++) {
		if (is_cancelled(&places[i]))
			fiber_cancel(places[i].fiber);
		if (is_cancelled(&places[i]) || times_out(i))
			go(&places[i]);
	}
	fiber_mutex_unlock(&line.mutex);
	for (i = 0; i < LINE; i++) {
		const bool gone = is_cancelled(&places[i]) || times_out(i);

		if (!gone)
			go(&places[i]);
		assert_int_equal(places[i].rc, times_out(i) ? -ETIMEDOUT : gone ? -ECANCELED : 0);
	}
	if (complete)
		assert_in_order(&line, places, LINE);
	return complete;
}

/* One waiter in three has timed out or was cancelled when the mutex is released. */
static void test_mutex_order_passes_over_those_who_have_gone(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	int64_t patience = 20 * MS;

	(void)state;
	while (!pass_over(rt, patience))
		patience *= 2;
	carriers_finish(rt);
}

/* -- the deadline, the cancellation and the grant at the same moment -- */

#define FEW 9

struct axe {
	struct place *places;
	int64_t at;
};

static void spin_until(int64_t at)
{
	while (fiber_now() < at)
		;
}

static void *cancel_some(void *arg)
{
	struct axe *axe = arg;

	spin_until(axe->at);
	for (unsigned i = 2; i < FEW; i += 3)
		if (!axe->places[i].is_thread)
			fiber_cancel(axe->places[i].fiber);
	return NULL;
}

/*
 * Count the waiters that got the mutex and those that did not; false if the queue was not complete
 * in time.
 */
static bool end_at_once(struct fiber_runtime *rt, unsigned round, int64_t patience,
			unsigned *granted, unsigned *gone)
{
	const int64_t at = fiber_after(patience), before = 60000;
	struct line line = {.count = 0};
	struct place places[FEW];
	struct axe axe = {places, at};
	bool complete = true;
	pthread_t thread;
	unsigned i;

	fiber_mutex_lock(&line.mutex, FIBER_FOREVER);
	for (i = 0; i < FEW; i++) {
		/* The deadline is between 50 us before and 45 us after `at`. */
		const int64_t deadline = at + (int64_t)(round % 20) * 5000 - 50000;

		places[i] = (struct place){&line,
					   i,
					   i == (round % 2 ? 4 : 6),
					   i % 3 == 1 ? deadline : FIBER_FOREVER,
					   1,
					   0,
					   NULL};
		complete = come(rt, &places[i], at - before) && complete;
	}
	assert_int_equal(pthread_create(&thread, NULL, cancel_some, &axe), 0);
	spin_until(at);
	fiber_mutex_unlock(&line.mutex);
	pthread_join(thread, NULL);
	for (i = 0; i < FEW; i++)
		go(&places[i]);
	if (!complete)
		return false;
	i = assert_in_order(&line, places, FEW);
	*granted += i;
	*gone += FEW - i;
	return true;
}

static void test_mutex_order_grants_nobody_who_times_out_or_is_cancelled_meanwhile(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	unsigned round, granted = 0, gone = 0;
	const int64_t limit = fiber_after(40000 * MS);
	int64_t patience = MS;

	(void)state;
	for (round = 0; round < 120 || ((granted < 100 || gone < 50) && fiber_now() < limit);
	     round++)
		if (!end_at_once(rt, round, patience, &granted, &gone) && patience < 50 * MS)
			patience += patience / 4;
	/* Otherwise the test has proved nothing. */
	assert_true(granted >= 100 && gone >= 50);
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_mutex_order_of_fibers_and_threads_is_the_one_in_which_they_came),
		cmocka_unit_test(test_mutex_order_passes_over_those_who_have_gone),
		cmocka_unit_test(
			test_mutex_order_grants_nobody_who_times_out_or_is_cancelled_meanwhile),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
