/* SPDX-License-Identifier: MIT */
/* test_own_chan.c - a channel is a first-in first-out queue with room for so many, until it is closed */
#include "tests/explore/own.h"

#define FIBERS	 2u /* that send, and that receive */
#define EACH	 2u /* messages of a sender */
#define ROOM_MAX 4
#define CLOSED	 (-EPIPE)

enum { SEND, RECEIVE, CLOSE };

struct test {
	struct fiber_chan *chan;
	int64_t room;
	unsigned senders;	  /* that have not ended */
	unsigned sent, receiving; /* messages that were sent, calls that may have received one */
};

struct sender {
	struct test *test;
	int first; /* message */
};

/* -- the model; the key is the capacity -- */

struct queue {
	int64_t closed, n, message[ROOM_MAX];
};

static bool step_send(struct queue *q, const struct fiber_test_call *call)
{
	/* A message that is handed over passes through a queue of one. */
	const int64_t room = call->key ? call->key : 1;

	if (call->end && call->result == CLOSED)
		return q->closed;
	/* Who gave up, also because it was cancelled, has had to wait. */
	if (call->end && call->result)
		return own_given_up(call->result) && !q->closed && q->n == call->key;
	if (q->closed || q->n == room)
		return false;
	q->message[q->n++] = call->arg;
	return true;
}

static bool step_receive(struct queue *q, const struct fiber_test_call *call)
{
	if (call->end && call->result == CLOSED)
		return q->closed && !q->n;
	if (call->end && call->result < 0)
		return own_given_up(call->result) && !q->closed && !q->n;
	if (!q->n || (call->end && q->message[0] != call->result))
		return false;
	q->n--;
	memmove(q->message, q->message + 1, (ROOM_MAX - 1) * sizeof *q->message);
	q->message[ROOM_MAX - 1] = 0;
	return true;
}

static bool step(void *state, const struct fiber_test_call *call)
{
	struct queue *q = state;

	if (call->op == SEND)
		return step_send(q, call);
	if (call->op == RECEIVE)
		return step_receive(q, call);
	if (q->closed)
		return call->result == CLOSED;
	q->closed = 1;
	return call->result == 0;
}

static int print(const struct fiber_test_call *call, char *text, size_t size)
{
	static const char *const names[] = {"send", "receive", "close"};

	return snprintf(text, size, call->end ? "%s(%d) = %d" : "%s(%d)", names[call->op],
			(int)call->arg, (int)call->result);
}

static const struct fiber_test_model model = {
	.size = sizeof model, .state_size = sizeof(struct queue), .step = step, .print = print};

/* -- the test -- */

static int send_one(struct test *t, int message, int64_t deadline)
{
	const unsigned call = fiber_test_call(SEND, t->room, message);
	const int result = fiber_chan_send(t->chan, &message, deadline);

	t->sent += result == 0;
	fiber_test_assert(t->sent <= t->receiving + (uint64_t)t->room);
	fiber_test_return(call, result);
	if (result == -ETIMEDOUT)
		fiber_test_reached("send timed out");
	return result;
}

static int receive_one(struct test *t, int64_t deadline)
{
	const unsigned call = fiber_test_call(RECEIVE, t->room, 0);
	int message = 0, result;

	t->receiving++;
	result = fiber_chan_recv(t->chan, &message, deadline);
	if (result < 0)
		t->receiving--;
	fiber_test_return(call, result < 0 ? result : message);
	if (result == -ETIMEDOUT)
		fiber_test_reached("receive timed out");
	return result < 0 ? result : message;
}

static int close_it(struct test *t)
{
	const unsigned call = fiber_test_call(CLOSE, t->room, 0);
	const int result = fiber_chan_close(t->chan);

	fiber_test_return(call, result);
	return result;
}

/* The last one closes the channel. */
static void *send_some(void *arg)
{
	struct sender *s = arg;

	for (unsigned i = 0; i < EACH; i++)
		send_one(s->test, s->first + (int)i, own_deadline());
	if (--s->test->senders == 0)
		close_it(s->test);
	return NULL;
}

static void *receive_until_closed(void *arg)
{
	int result;

	do
		result = receive_one(arg, own_deadline());
	while (result != CLOSED && result != -ECANCELED);
	return NULL;
}

static void pass_messages(struct test *t, bool cancels)
{
	struct sender senders[FIBERS];
	struct fiber *fibers[2 * FIBERS];

	fiber_test_history(&model);
	for (unsigned i = 0; i < FIBERS; i++)
		senders[i] = (struct sender){t, (int)(10 * (i + 1))};
	own_spawn(fibers, FIBERS, send_some, senders, sizeof *senders);
	own_spawn(fibers + FIBERS, FIBERS, receive_until_closed, t, 0);
	if (cancels)
		own_cancel_one(fibers, 2 * FIBERS);
	/* Receivers may have been cancelled. */
	while (receive_one(t, FIBER_FOREVER) != CLOSED)
		;
	own_join(fibers, 2 * FIBERS);
	fiber_test_assert(close_it(t) == CLOSED);
	fiber_test_assert(receive_one(t, FIBER_FOREVER) == CLOSED);
	fiber_test_assert(t->sent == t->receiving && fiber_chan_length(t->chan) == 0);
}

static void pass(void *arg)
{
	struct test t = {.room = *(const int *)arg, .senders = FIBERS};

	fiber_test_assert(fiber_chan_new(sizeof(int), (size_t)t.room, &t.chan) == 0);
	pass_messages(&t, false);
	fiber_chan_unref(t.chan);
}

static void pass_and_cancel(void *arg)
{
	struct test t = {.room = *(const int *)arg, .senders = FIBERS};

	if (fiber_chan_new(sizeof(int), (size_t)t.room, &t.chan) < 0)
		return;
	pass_messages(&t, true);
	fiber_chan_unref(t.chan);
}

static void test_channel_is_a_queue_with_so_much_room(void **state)
{
	static const char *const reach[] = {"send timed out", "receive timed out", NULL};

	(void)state;
	for (int room = 0; room <= 2; room++)
		EXPLORE(pass, &room, .reach = reach, .schedules = 500);
}

static void test_cancelled_calls_move_no_message(void **state)
{
	(void)state;
	for (int room = 0; room <= 2; room++)
		EXPLORE_FAULTS(pass_and_cancel, &room, FIBER_TEST_FAULT_CANCEL, .schedules = 500);
}

/* -- close wakes all -- */

static void *send_into_full(void *arg)
{
	int message = 7;

	fiber_test_assert(fiber_chan_send(arg, &message, FIBER_FOREVER) == CLOSED);
	return NULL;
}

static void close_with_waiters(void *arg)
{
	struct fiber_chan *chan;
	struct fiber *fibers[2];
	int message = 1;

	(void)arg;
	fiber_test_assert(fiber_chan_new(sizeof message, 1, &chan) == 0);
	fiber_test_assert(fiber_chan_send(chan, &message, FIBER_FOREVER) == 0);
	own_spawn(fibers, 2, send_into_full, chan, 0);
	fiber_test_point("some wait");
	fiber_chan_close(chan);
	own_join(fibers, 2);
	fiber_test_assert(fiber_chan_recv(chan, &message, FIBER_FOREVER) == 0 && message == 1);
	fiber_test_assert(fiber_chan_recv(chan, &message, FIBER_FOREVER) == CLOSED);
	fiber_chan_unref(chan);
}

static void test_close_ends_every_send_and_keeps_what_was_sent(void **state)
{
	(void)state;
	EXPLORE_ALL(close_with_waiters, NULL, .preemptions = 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_channel_is_a_queue_with_so_much_room),
		cmocka_unit_test(test_cancelled_calls_move_no_message),
		cmocka_unit_test(test_close_ends_every_send_and_keeps_what_was_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
