/* SPDX-License-Identifier: MIT */
/*
 * test_select_at_once.c - a select that does not wait finds a ready case at every moment
 *
 * Something is always ready in one of several channels and moves from one to another. A mover makes
 * the next channel ready before it makes the last one unready, so every select must find one.
 */
#include "waiting.h"

#include "base/atomic.h"

#define ROUNDS	 200000 /* or as many as fit into half a second with a sanitizer */
#define CHANNELS 20

struct moving {
	struct fiber_chan *chan[CHANNELS];
	unsigned channels;
	enum fiber_select_op op; /* of the selecting side's cases */
	bool same;		 /* both ops on the first channel */
	bool cancelled;		 /* it is a cancelled fiber with a distant deadline */
	int rounds, missed, wrong;
	_Atomic int done;
};

/* Make a channel ready for the selecting side, or unready: an element, or room for one. */
static void make_ready(struct moving *m, unsigned i, bool ready)
{
	if (ready == (m->op == FIBER_SELECT_RECV))
		send_now(m->chan[i], 1);
	else
		recv_now(m->chan[i]);
}

static void *moves(void *arg)
{
	struct moving *m = arg;
	unsigned last = 0, next;

	while (!fib_load(&m->done)) {
		next = (last + 1) % m->channels;
		make_ready(m, next, true);
		make_ready(m, last, false);
		last = next;
	}
	return NULL;
}

static int look_once(struct moving *m, int *value)
{
	struct fiber_select_case cases[CHANNELS];
	unsigned i;

	for (i = 0; i < m->channels; i++)
		cases[i] = (struct fiber_select_case){
			.op = m->op, .chan = m->chan[i], .elem = value, .result = 1};
	if (m->same) {
		cases[1] = cases[0];
		cases[1].op = FIBER_SELECT_SEND;
	}
	return fiber_select(cases, m->same ? 2 : m->channels, m->cancelled ? FIBER_FOREVER : 0);
}

/* Undo each select, so that one channel is ready again before the next select. */
static void *looks(void *arg)
{
	struct moving *m = arg;
	const int64_t end = fiber_after(500 * MS);
	int i, rc, value = 7;

	if (m->cancelled)
		fiber_cancel(fiber_self());
	for (i = 0; i < m->rounds && (i % 64 || fiber_now() < end); i++) {
		rc = look_once(m, &value);
		if (rc == (m->cancelled ? -ECANCELED : -ETIMEDOUT))
			m->missed++;
		else if (rc < 0)
			m->wrong++;
		else if (!m->same)
			make_ready(m, (unsigned)rc, true);
	}
	fib_store_release(&m->done, 1);
	return NULL;
}

/* Run a mover and a selecting side, each as a fiber on one of two carriers or as a thread. */
static void play(struct moving *m, bool looker_is_thread)
{
	struct fiber *looker = NULL, *mover = NULL;
	pthread_t thread;
	unsigned i;

	for (i = 0; i < m->channels; i++) {
		m->chan[i] = waiting_chan(1);
		make_ready(m, i, i == 0);
	}
	assert_int_equal(pthread_create(&thread, NULL, looker_is_thread ? looks : moves, m), 0);
	if (looker_is_thread)
		mover = queue_spawn(moves, m);
	else
		assert_int_equal(fiber_runtime_spawn(rt, NULL, looks, m, &looker), 0);
	pthread_join(thread, NULL);
	assert_int_equal(fiber_join(looker_is_thread ? mover : looker, NULL, FIBER_FOREVER), 0);
	for (i = 0; i < m->channels; i++)
		fiber_chan_unref(m->chan[i]);
	assert_int_equal(m->wrong, 0);
	if (m->missed)
		fail_msg("%d of %d looks found nothing", m->missed, m->rounds);
}

static void test_select_finds_the_element_that_moves_between_two_channels(void **state)
{
	struct moving m = {.channels = 2, .op = FIBER_SELECT_RECV, .rounds = ROUNDS};

	(void)state;
	play(&m, false);
	m.done = 0;
	play(&m, true);
}

static void test_select_finds_the_room_that_moves_between_two_channels(void **state)
{
	struct moving m = {.channels = 2, .op = FIBER_SELECT_SEND, .rounds = ROUNDS};

	(void)state;
	play(&m, false);
}

static void test_select_finds_what_moves_among_many_channels(void **state)
{
	struct moving m = {.channels = CHANNELS, .op = FIBER_SELECT_RECV, .rounds = ROUNDS / 8};

	(void)state;
	play(&m, true);
}

/* The channel has room whenever it has no element. */
static void test_select_finds_one_of_both_sides_of_one_channel(void **state)
{
	struct moving m = {.channels = 1, .op = FIBER_SELECT_RECV, .same = true, .rounds = ROUNDS};

	(void)state;
	play(&m, false);
}

static void test_select_of_a_cancelled_fiber_finds_what_moves(void **state)
{
	struct moving m = {
		.channels = 2, .op = FIBER_SELECT_RECV, .cancelled = true, .rounds = ROUNDS};

	(void)state;
	play(&m, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_finds_the_element_that_moves_between_two_channels),
		cmocka_unit_test(test_select_finds_the_room_that_moves_between_two_channels),
		cmocka_unit_test(test_select_finds_what_moves_among_many_channels),
		cmocka_unit_test(test_select_finds_one_of_both_sides_of_one_channel),
		cmocka_unit_test(test_select_of_a_cancelled_fiber_finds_what_moves),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
