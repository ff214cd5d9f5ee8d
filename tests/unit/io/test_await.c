/* SPDX-License-Identifier: MIT */
/* test_await.c - a descriptor case of a select fires when ready, and no element is lost */
#include "inside.h"
#include "os/spin.h"
#include "sync/chan.h"

struct pair {
	int ends[2]; /* bytes written to end 1 are read from end 0 */
	struct fiber_chan *chan;
	int value;
	struct fiber_select_case cases[2]; /* a receive; and a read from the pipe */
	int64_t deadline;
	_Atomic int rounds;
};

static void pair_make(struct pair *p)
{
	assert_int_equal(pipe2(p->ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(fiber_chan_new(sizeof(int), 0, &p->chan), 0);
	p->value = -1;
	p->cases[0] = (struct fiber_select_case){
		.op = FIBER_SELECT_RECV, .chan = p->chan, .elem = &p->value, .result = 1};
	p->cases[1] = (struct fiber_select_case){
		.op = FIBER_SELECT_FD, .fd = p->ends[0], .events = POLLIN, .result = 1};
	p->deadline = FIBER_FOREVER;
}

static void pair_free(struct pair *p)
{
	fiber_close(p->ends[0]);
	close(p->ends[1]);
	fiber_chan_unref(p->chan);
}

static void *selects(void *arg)
{
	struct pair *p = arg;

	return (void *)(intptr_t)fiber_select(p->cases, 2, p->deadline);
}

static void test_await_fires_when_the_descriptor_becomes_ready(void **state)
{
	struct pair p;
	struct fiber *f;

	(void)state;
	pair_make(&p);
	f = inside_suspended(selects, &p);
	assert_int_equal(write(p.ends[1], "x", 1), 1);
	assert_int_equal(inside_join(f), 1);
	assert_true(p.cases[1].result & POLLIN);
	assert_int_equal(p.cases[0].result, 1);
	/* The pipe is ready now, so no wait is needed: also in a thread. */
	assert_int_equal(fiber_select(p.cases, 2, 0), 1);
	pair_free(&p);
}

static void test_await_leaves_the_descriptor_when_a_channel_fires(void **state)
{
	struct pair p;
	struct fiber *f;
	char byte;
	int i;

	(void)state;
	pair_make(&p);
	for (i = 0; i < 100; i++) {
		f = inside_suspended(selects, &p);
		assert_int_equal(fiber_chan_send(p.chan, &i, FIBER_FOREVER), 0);
		/* The case has left the descriptor: this edge wakes no fiber. */
		assert_int_equal(write(p.ends[1], "x", 1), 1);
		assert_int_equal(inside_join(f), 0);
		assert_int_equal(p.value, i);
		assert_int_equal(read(p.ends[0], &byte, 1), 1);
	}
	pair_free(&p);
}

static void test_await_waits_on_when_somebody_else_took_what_there_was(void **state)
{
	struct pair p;
	struct fiber *f;
	char byte;
	int i, seven = 7, rc;

	(void)state;
	pair_make(&p);
	f = inside_suspended(selects, &p);
	for (i = 0; i < 500; i++) {
		assert_int_equal(write(p.ends[1], "x", 1), 1);
		if (read(p.ends[0], &byte, 1) != 1)
			break;
	}
	rc = fiber_chan_send(p.chan, &seven, fiber_after(100 * MS));
	/* The fiber either saw a byte in time, or went on waiting and received the element. */
	if (inside_join(f) == 0) {
		assert_int_equal(rc, 0);
		assert_int_equal(p.value, 7);
	} else {
		assert_int_equal(rc, -ETIMEDOUT);
		assert_true(p.cases[1].result & POLLIN);
	}
	pair_free(&p);
}

static void test_await_tells_of_a_descriptor_that_is_closed(void **state)
{
	struct pair p;
	struct fiber *f;

	(void)state;
	pair_make(&p);
	f = inside_suspended(selects, &p);
	fiber_close(p.ends[0]);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(p.cases[1].result, -EBADF);
	p.cases[1].fd = -1;
	assert_int_equal(fiber_select(p.cases, 2, FIBER_FOREVER), 1);
	assert_int_equal(p.cases[1].result, -EBADF);
	p.cases[1].events = 0;
	assert_int_equal(fiber_select(p.cases, 2, FIBER_FOREVER), -EINVAL);
	close(p.ends[1]);
	fiber_chan_unref(p.chan);
}

static void test_await_both_directions_and_a_deadline(void **state)
{
	struct pair p;
	struct fiber *f;
	int64_t soon;

	(void)state;
	pair_make(&p);
	soon = p.deadline = fiber_after(2 * MS);
	f = inside_spawn(selects, &p);
	assert_int_equal(inside_join(f), -ETIMEDOUT);
	assert_true(fiber_now() >= soon);
	/* A pipe's writing end is ready at once. */
	p.cases[1].fd = p.ends[1];
	p.cases[1].events = POLLIN | POLLOUT;
	p.deadline = FIBER_FOREVER;
	assert_int_equal(inside(selects, &p), 1);
	assert_true(p.cases[1].result & POLLOUT);
	pair_free(&p);
}

/* A blocked thread waits in poll(2), and is notified of the end too. */
static void *selects_pinned(void *arg)
{
	return as_pinned(selects, arg);
}

static bool somebody_waits(struct fiber_chan *chan)
{
	bool somebody;

	fib_chan_lock(chan);
	somebody = fib_queue_occupied(&chan->sides[FIB_CHAN_RECV]);
	fib_chan_unlock(chan);
	return somebody;
}

static void *closes_when_it_is_waited_for(void *arg)
{
	struct pair *p = arg;

	while (!somebody_waits(p->chan))
		sched_yield();
	fiber_close(p->ends[0]);
	return NULL;
}

static void test_await_tells_who_blocks_of_a_descriptor_that_is_closed(void **state)
{
	pthread_t closer;
	struct pair p;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		pair_make(&p);
		assert_int_equal(pthread_create(&closer, NULL, closes_when_it_is_waited_for, &p),
				 0);
		assert_int_equal(i ? inside(selects_pinned, &p) : on_a_thread(selects, &p), 1);
		assert_int_equal(p.cases[1].result, -EBADF);
		pthread_join(closer, NULL);
		close(p.ends[1]);
		fiber_chan_unref(p.chan);
	}
}

#define ROUNDS 2000

static void *send_all(void *arg)
{
	struct pair *p = arg;
	intptr_t sent = 0;
	int i;

	for (i = 1; i <= ROUNDS; i++)
		if (fiber_chan_send(p->chan, &i,
				    i % 16 ? fiber_after(i % 3 * 20000) : FIBER_FOREVER) == 0)
			sent += i;
	p->rounds++;
	return (void *)sent;
}

static void *write_all(void *arg)
{
	struct pair *p = arg;
	int i;

	for (i = 0; i < ROUNDS; i++)
		while (write(p->ends[1], "x", 1) != 1)
			sched_yield();
	p->rounds++;
	return NULL;
}

static void *take_all(void *arg)
{
	struct pair *p = arg;
	intptr_t received = 0, bytes = 0;
	char byte;

	while (p->rounds < 2 || bytes < ROUNDS) {
		switch (fiber_select(p->cases, 2, fiber_after(10 * MS))) {
		case 0:
			received += p->value;
			break;
		case 1:
			bytes += fiber_read(p->ends[0], &byte, 1, FIBER_FOREVER);
			break;
		default:
			break;
		}
	}
	return (void *)received;
}

static void test_await_race_of_edges_elements_and_deadlines_loses_nothing(void **state)
{
	struct fiber *taker;
	pthread_t sender, writer;
	struct pair p = {.rounds = 0};
	void *sent;

	(void)state;
	pair_make(&p);
	taker = inside_spawn(take_all, &p);
	assert_int_equal(pthread_create(&sender, NULL, send_all, &p), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_all, &p), 0);
	pthread_join(sender, &sent);
	pthread_join(writer, NULL);
	assert_int_equal(inside_join(taker), (intptr_t)sent);
	assert_true(sent != NULL);
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_await_fires_when_the_descriptor_becomes_ready),
		cmocka_unit_test(test_await_leaves_the_descriptor_when_a_channel_fires),
		cmocka_unit_test(test_await_waits_on_when_somebody_else_took_what_there_was),
		cmocka_unit_test(test_await_tells_of_a_descriptor_that_is_closed),
		cmocka_unit_test(test_await_both_directions_and_a_deadline),
		cmocka_unit_test(test_await_tells_who_blocks_of_a_descriptor_that_is_closed),
		cmocka_unit_test(test_await_race_of_edges_elements_and_deadlines_loses_nothing),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
