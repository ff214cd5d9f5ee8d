/* SPDX-License-Identifier: MIT */
/* test_park.c - one token, kept if it comes early; no unpark is lost, from fibers or threads */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>

/* -- the token -- */

struct tokens {
	int early, again, past, soon, too_early, after_timeout;
};

static void *take_tokens(void *arg)
{
	struct tokens *t = arg;
	int64_t deadline;

	fiber_unpark(fiber_self());
	fiber_unpark(fiber_self());
	t->early = fiber_park(0);
	t->again = fiber_park(0);
	t->past = fiber_park(fiber_now());
	deadline = fiber_after(2 * MS);
	t->soon = fiber_park(deadline);
	t->too_early = fiber_now() < deadline;
	fiber_unpark(fiber_self());
	t->after_timeout = fiber_park(FIBER_FOREVER);
	return NULL;
}

static void test_park_keeps_one_token_that_came_early(void **state)
{
	struct tokens t = {1, 1, 1, 1, 1, 1};

	(void)state;
	carriers_run(take_tokens, &t);
	assert_int_equal(t.early, 0);
	assert_int_equal(t.again, -ETIMEDOUT);
	assert_int_equal(t.past, -ETIMEDOUT);
	assert_int_equal(t.soon, -ETIMEDOUT);
	assert_int_equal(t.too_early, 0);
	assert_int_equal(t.after_timeout, 0);
}

static void *park_once(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_park(FIBER_FOREVER);
}

static void test_park_token_for_a_fiber_not_yet_submitted_is_kept(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber_result r = {NULL, 1};
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_create(NULL, park_once, NULL, &f), 0);
	fiber_unpark(f);
	assert_int_equal(fiber_submit(rt, f), 0);
	assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)r.value, 0);
	carriers_finish(rt);
}

/* -- a plain thread and a fiber -- */

#define TURNS 2000

struct duet {
	struct fiber *fiber;
	_Atomic int turn; /* even: the thread's turn; odd: the fiber's turn */
	int wrong;
};

static void *fiber_side(void *arg)
{
	struct duet *d = arg;

	for (int i = 0; i < TURNS; i++) {
		while (d->turn % 2 == 0)
			d->wrong += fiber_park(FIBER_FOREVER) != 0;
		d->turn++;
	}
	return NULL;
}

static void test_park_is_ended_by_a_plain_thread(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct duet d = {0};

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, fiber_side, &d, &d.fiber), 0);
	for (int i = 0; i < TURNS; i++) {
		while (d.turn % 2)
			sched_yield();
		d.turn++;
		fiber_unpark(d.fiber);
	}
	assert_int_equal(fiber_join(d.fiber, NULL, FIBER_FOREVER), 0);
	assert_int_equal(d.turn, 2 * TURNS);
	assert_int_equal(d.wrong, 0);
	carriers_finish(rt);
}

/* -- ping-pong -- */

struct pair {
	struct fiber *side[2];
	_Atomic int turn;
	int rounds;
	_Atomic int wrong;
};

static void *play(struct pair *p, int me)
{
	for (int i = 0; i < p->rounds; i++) {
		while (p->turn % 2 != me)
			p->wrong += fiber_park(FIBER_FOREVER) != 0;
		p->turn++;
		fiber_unpark(p->side[!me]);
	}
	return NULL;
}

static void *ping(void *arg)
{
	return play(arg, 0);
}

static void *pong(void *arg)
{
	return play(arg, 1);
}

/* Both must exist before either runs: create both, then submit. */
static void pairs(size_t n, int rounds)
{
	struct fiber_runtime *rt = carriers_start();
	struct pair *p = calloc(n, sizeof *p);
	int wrong = 0;

	assert_non_null(p);
	for (size_t i = 0; i < n; i++) {
		p[i].rounds = rounds;
		wrong += fiber_create(NULL, ping, &p[i], &p[i].side[0]) != 0;
		wrong += fiber_create(NULL, pong, &p[i], &p[i].side[1]) != 0;
		wrong += fiber_submit(rt, p[i].side[1]) != 0;
		wrong += fiber_submit(rt, p[i].side[0]) != 0;
	}
	assert_int_equal(wrong, 0);
	/*
	 * The last step of each side unparks the other: both handles must stay valid until both
	 * have exited.
	 */
	for (size_t i = 0; i < 2 * n; i++)
		while (fiber_state(p[i / 2].side[i % 2]) != FIBER_DEAD)
			sched_yield();
	for (size_t i = 0; i < 2 * n; i++)
		wrong += fiber_join(p[i / 2].side[i % 2], NULL, FIBER_FOREVER) != 0;
	for (size_t i = 0; i < n; i++)
		wrong += p[i].wrong + (p[i].turn != 2 * rounds);
	free(p);
	assert_int_equal(wrong, 0);
	carriers_finish(rt);
}

static void test_park_one_pair_plays_ping_pong(void **state)
{
	(void)state;
	pairs(1, 20000);
}

static void test_park_1000_pairs_play_ping_pong(void **state)
{
	(void)state;
	pairs(1000, 50);
}

/* -- deadline against unpark -- */

struct race {
	struct fiber *sleeper;
	_Atomic int sent, seen, timed_out;
	_Atomic bool over;
};

static void *park_briefly(void *arg)
{
	struct race *r = arg;

	while (!r->over)
		if (fiber_park(fiber_after(20000)) == 0)
			r->seen++;
		else
			r->timed_out++;
	return NULL;
}

/*
 * The next token is sent only after the previous one was seen, so each must be seen exactly once.
 * This holds even if the unparker is delayed between leaving the token and checking for a parked
 * fiber.
 */
static void test_park_deadline_against_unpark_gives_each_token_once(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct race r = {0};

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, park_briefly, &r, &r.sleeper), 0);
	for (r.sent = 1; r.sent <= 2000; r.sent++) {
		fiber_unpark(r.sleeper);
		while (r.seen < r.sent)
			sched_yield();
	}
	r.over = true;
	assert_int_equal(fiber_join(r.sleeper, NULL, FIBER_FOREVER), 0);
	assert_int_equal(r.seen, 2000);
	carriers_finish(rt);
}

/* -- many wakers -- */

struct hail {
	struct fiber *target;
	_Atomic int left;
};

static void *collect(void *arg)
{
	struct hail *h = arg;

	while (h->left)
		fiber_park(FIBER_FOREVER);
	return NULL;
}

static void *hail_thread(void *arg)
{
	struct hail *h = arg;

	for (int i = 0; i < 5000; i++) {
		h->left--;
		fiber_unpark(h->target);
	}
	return NULL;
}

static void test_park_is_ended_by_many_threads_at_once(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct hail h = {NULL, 15000};
	pthread_t threads[3];

	(void)state;
	assert_int_equal(fiber_create(NULL, collect, &h, &h.target), 0);
	assert_int_equal(fiber_submit(rt, h.target), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hail_thread, &h), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(fiber_join(h.target, NULL, FIBER_FOREVER), 0);
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_park_keeps_one_token_that_came_early),
		cmocka_unit_test(test_park_token_for_a_fiber_not_yet_submitted_is_kept),
		cmocka_unit_test(test_park_is_ended_by_a_plain_thread),
		cmocka_unit_test(test_park_one_pair_plays_ping_pong),
		cmocka_unit_test(test_park_1000_pairs_play_ping_pong),
		cmocka_unit_test(test_park_deadline_against_unpark_gives_each_token_once),
		cmocka_unit_test(test_park_is_ended_by_many_threads_at_once),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
