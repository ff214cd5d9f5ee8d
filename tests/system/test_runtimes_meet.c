/* SPDX-License-Identifier: MIT */
/* test_runtimes_meet.c - fibers of several runtimes synchronize; spawns across runtimes */
#include "runtimes.h"

#include <errno.h>
#include <stdatomic.h>

/* -- their fibers meet -- */

struct meeting {
	struct fiber_mutex mutex;
	struct fiber_chan *chan;
	struct fiber_barrier barrier;
	struct fiber *_Atomic neighbours[MOST]; /* the fiber that each unparks: the next one */
	long rounds, counted, received[MOST];
	unsigned n;
	_Atomic unsigned turn;
	_Atomic int wrong;
};

struct guest {
	struct meeting *m;
	unsigned i;
};

static void *meet(void *arg)
{
	const struct guest *const g = arg;
	struct meeting *const m = g->m;
	unsigned next = (g->i + 1) % m->n;
	long value;

	m->neighbours[g->i] = fiber_self();
	if (fiber_barrier_wait(&m->barrier, FIBER_FOREVER) < 0)
		m->wrong = 1;
	for (long k = 0; k < m->rounds; k++) {
		/* Each fiber unparks the next one in a ring. */
		while (m->turn != g->i)
			if (fiber_park(FIBER_FOREVER) < 0)
				m->wrong = 2;
		m->turn = next;
		fiber_unpark(m->neighbours[next]);
		if (fiber_mutex_lock(&m->mutex, FIBER_FOREVER) < 0)
			m->wrong = 3;
		m->counted++;
		fiber_mutex_unlock(&m->mutex);
		/* Rendezvous: even ones send, odd ones receive. */
		if (g->i % 2 && fiber_chan_recv(m->chan, &value, FIBER_FOREVER) == 0)
			m->received[g->i] += value;
		else if (g->i % 2 == 0 && next && fiber_chan_send(m->chan, &k, FIBER_FOREVER) < 0)
			m->wrong = 4;
	}
	/* Wait for all: a late token must not reach a fiber that has exited. */
	if (fiber_barrier_wait(&m->barrier, FIBER_FOREVER) < 0)
		m->wrong = 5;
	return NULL;
}

static void meet_in(unsigned n)
{
	struct fiber_runtime *rts[MOST];
	struct guest guests[MOST];
	struct fiber *fibers[MOST];
	struct meeting m = {.rounds = (long)carriers_scale(3000), .n = n};
	long sum = 0;
	unsigned i;

	assert_int_equal(fiber_chan_new(sizeof(long), 0, &m.chan), 0);
	fiber_barrier_init(&m.barrier, n);
	start_kinds(rts, n);
	for (i = 0; i < n; i++) {
		guests[i] = (struct guest){&m, i};
		fibers[i] = spawn_in(rts[i], meet, &guests[i]);
	}
	for (i = 0; i < n; i++) {
		join(fibers[i]);
		sum += m.received[i];
	}
	assert_int_equal(m.wrong, 0);
	assert_int_equal(m.counted, m.rounds * n);
	assert_int_equal(sum, m.rounds * (m.rounds - 1) / 2 * (n / 2));
	for (i = 0; i < n; i++)
		carriers_finish(rts[i]);
	fiber_chan_unref(m.chan);
}

static void test_runtimes_two_share_mutex_channel_barrier_and_unparks(void **state)
{
	(void)state;
	meet_in(2);
}

static void test_runtimes_five_share_mutex_channel_barrier_and_unparks(void **state)
{
	(void)state;
	meet_in(MOST);
}

/* -- fibers created here and run there -- */

struct crossing {
	struct fiber_runtime *there;
	struct fiber_runtime *ran_in[3];
	int rc[3], cancelled;
};

static void *note_runtime(void *arg)
{
	*(struct fiber_runtime **)arg = fiber_runtime_self();
	return arg;
}

static void *cross(void *arg)
{
	struct crossing *c = arg;
	struct fiber *fibers[3];
	struct fiber_result r = {NULL, 1};

	/* Created here and submitted there; spawned there; created here for here. */
	c->rc[0] = fiber_create(NULL, note_runtime, &c->ran_in[0], &fibers[0]);
	c->rc[0] = c->rc[0] < 0 ? c->rc[0] : fiber_submit(c->there, fibers[0]);
	c->rc[1] = fiber_runtime_spawn(c->there, NULL, note_runtime, &c->ran_in[1], &fibers[1]);
	c->rc[2] = fiber_create(NULL, note_runtime, &c->ran_in[2], &fibers[2]);
	c->rc[2] = c->rc[2] < 0 ? c->rc[2] : fiber_submit(NULL, fibers[2]);
	for (int i = 0; i < 3; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	fiber_runtime_spawn(c->there, NULL, sleep_for_ever, NULL, &fibers[0]);
	carriers_await_suspended(fibers[0]);
	fiber_cancel(fibers[0]);
	fiber_join(fibers[0], &r, FIBER_FOREVER);
	c->cancelled = (int)(intptr_t)r.value;
	return NULL;
}

static void test_runtimes_submit_spawn_join_and_cancel_across(void **state)
{
	struct fiber_runtime *rts[2];
	struct crossing c = {.rc = {1, 1, 1}};

	(void)state;
	start_kinds(rts, 2);
	c.there = rts[1];
	join(spawn_in(rts[0], cross, &c));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(c.rc[i], 0);
		assert_ptr_equal(c.ran_in[i], i < 2 ? rts[1] : rts[0]);
	}
	assert_int_equal(c.cancelled, -ECANCELED);
	carriers_finish(rts[0]);
	carriers_finish(rts[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtimes_two_share_mutex_channel_barrier_and_unparks),
		cmocka_unit_test(test_runtimes_five_share_mutex_channel_barrier_and_unparks),
		cmocka_unit_test(test_runtimes_submit_spawn_join_and_cancel_across),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests_name("runtimes meet", tests, NULL, NULL);
}
