/* SPDX-License-Identifier: MIT */
/* test_own_select.c - a select performs one of its cases, and each message is taken once */
#include "tests/explore/own.h"

#define CHANNELS 2u
#define FIBERS	 2u /* that send, and that receive */
#define ROOM_MAX 2
#define CLOSED	 (-EPIPE)
#define IDLE	 (-1) /* result: this case was not performed */

enum { SEND, RECEIVE };

struct test {
	struct fiber_chan *chan[CHANNELS];
	unsigned sent[FIBERS + 1], received[FIBERS + 1]; /* by message */
	unsigned ended;					 /* senders */
};

struct sender {
	struct test *test;
	int message; /* from 1 */
};

/* -- the model: each channel is a queue with room for one; the key is the channel -- */

static bool step(void *state, const struct fiber_test_call *call)
{
	int64_t *message = state; /* 0: the channel is empty */

	if (call->end && call->result == IDLE)
		return true;
	if (call->op == SEND) {
		if (*message)
			return false;
		*message = call->arg;
		return true;
	}
	if (!*message || (call->end && call->result != *message))
		return false;
	*message = 0;
	return true;
}

static const struct fiber_test_model model = {
	.size = sizeof model, .state_size = sizeof(int64_t), .step = step, .by_key = true};

/* A call for each case; that of the case which fired has a result. */
static int record_select(struct test *t, unsigned op, int *message, int64_t deadline)
{
	const enum fiber_select_op ops[] = {FIBER_SELECT_SEND, FIBER_SELECT_RECV};
	struct fiber_select_case cases[CHANNELS];
	unsigned calls[CHANNELS];
	int fired;

	for (unsigned i = 0; i < CHANNELS; i++) {
		cases[i] = (struct fiber_select_case){
			.op = ops[op], .chan = t->chan[i], .elem = message};
		calls[i] = fiber_test_call(op, i, op == SEND ? *message : 0);
	}
	fired = fiber_select(cases, CHANNELS, deadline);
	for (unsigned i = 0; i < CHANNELS; i++)
		fiber_test_return(calls[i], (int)i != fired	   ? IDLE
					    : cases[i].result == 0 ? *message
								   : IDLE);
	return fired < 0 ? fired : cases[fired].result;
}

static void *send_somewhere(void *arg)
{
	struct sender *s = arg;
	const int result = record_select(s->test, SEND, &s->message, own_deadline());

	fiber_test_assert(result == 0 || own_given_up(result));
	s->test->sent[s->message] += result == 0;
	s->test->ended++;
	return NULL;
}

static int receive_one(struct test *t, int64_t deadline)
{
	int message = 0;
	const int result = record_select(t, RECEIVE, &message, deadline);

	if (result == 0)
		t->received[message]++;
	if (result == -ETIMEDOUT)
		fiber_test_reached("timed out");
	return result;
}

static void *receive_until_closed(void *arg)
{
	int result;

	do
		result = receive_one(arg, own_deadline());
	while (result == 0 || result == -ETIMEDOUT);
	return NULL;
}

static void receive_rest(struct test *t, unsigned channel)
{
	int message, result;
	unsigned call;

	do {
		call = fiber_test_call(RECEIVE, channel, 0);
		result = fiber_chan_recv(t->chan[channel], &message, FIBER_FOREVER);
		fiber_test_return(call, result < 0 ? IDLE : message);
		if (result == 0)
			t->received[message]++;
	} while (result == 0);
	fiber_test_assert(result == CLOSED);
}

static void new_channels(struct test *t, size_t room)
{
	for (unsigned i = 0; i < CHANNELS; i++)
		fiber_test_assert(fiber_chan_new(sizeof(int), room, &t->chan[i]) == 0);
}

static void drop_channels(struct test *t)
{
	for (unsigned i = 0; i < CHANNELS; i++)
		fiber_chan_unref(t->chan[i]);
}

/* arg: room of the channels */
static void select_both_ways(void *arg)
{
	struct test t = {.sent = {0}};
	struct sender senders[FIBERS];
	struct fiber *fibers[2 * FIBERS];

	new_channels(&t, *(const size_t *)arg);
	fiber_test_history(&model);
	for (unsigned i = 0; i < FIBERS; i++)
		senders[i] = (struct sender){&t, (int)i + 1};
	own_spawn(fibers, FIBERS, send_somewhere, senders, sizeof *senders);
	own_spawn(fibers + FIBERS, FIBERS, receive_until_closed, &t, 0);
	own_cancel_one(fibers, 2 * FIBERS);
	/* Receivers may have been cancelled. */
	while (t.ended < FIBERS)
		receive_one(&t, fiber_after(OWN_MS));
	own_join(fibers, FIBERS);
	for (unsigned i = 0; i < CHANNELS; i++)
		fiber_chan_close(t.chan[i]);
	own_join(fibers + FIBERS, FIBERS);
	for (unsigned i = 0; i < CHANNELS; i++)
		receive_rest(&t, i);
	for (unsigned i = 1; i <= FIBERS; i++)
		fiber_test_assert(t.received[i] == t.sent[i] && t.sent[i] <= 1);
	drop_channels(&t);
}

static void test_each_message_is_taken_once_by_one_select(void **state)
{
	static const char *const reach[] = {"timed out", NULL};

	(void)state;
	for (size_t room = 0; room <= 1; room++) {
		EXPLORE(select_both_ways, &room, .reach = reach);
		EXPLORE_FAULTS(select_both_ways, &room, FIBER_TEST_FAULT_CANCEL);
	}
}

/* -- a message moves from one channel to the other; there is one at every moment -- */

static void *move_on(void *arg)
{
	struct test *t = arg;
	int message = 2;

	fiber_test_assert(fiber_chan_send(t->chan[1], &message, FIBER_FOREVER) == 0);
	fiber_chan_recv(t->chan[0], &message, 0);
	return NULL;
}

static void poll_while_it_moves(void *arg)
{
	struct test t = {.sent = {0}};
	struct fiber_select_case cases[CHANNELS];
	struct fiber *mover;
	int message = 1, fired;

	(void)arg;
	new_channels(&t, 2);
	fiber_chan_send(t.chan[0], &message, FIBER_FOREVER);
	own_spawn(&mover, 1, move_on, &t, 0);
	for (unsigned i = 0; i < CHANNELS; i++)
		cases[i] = (struct fiber_select_case){.op = FIBER_SELECT_RECV, .chan = t.chan[i]};
	cases[0].elem = cases[1].elem = &message;
	fired = fiber_select(cases, CHANNELS, 0);
	fiber_test_assert(fired == message - 1);
	own_join(&mover, 1);
	drop_channels(&t);
}

static void test_select_that_does_not_wait_finds_what_is_always_there(void **state)
{
	(void)state;
	EXPLORE(poll_while_it_moves, NULL, .faults = 0);
}

/* -- with itself -- */

static void send_to_itself(void *arg)
{
	struct test t = {.sent = {0}};
	int out = 1, in = 0;
	struct fiber_select_case cases[3] = {{.op = FIBER_SELECT_SEND, .elem = &out},
					     {.op = FIBER_SELECT_RECV, .elem = &in},
					     {.op = FIBER_SELECT_TIMER}};

	(void)arg;
	new_channels(&t, 0);
	cases[0].chan = cases[1].chan = t.chan[0];
	cases[2].at = fiber_after(OWN_MS);
	fiber_test_assert(fiber_select(cases, 3, FIBER_FOREVER) == 2);
	fiber_test_assert(fiber_now() >= cases[2].at && in == 0);
	fiber_test_assert(fiber_select(cases, 2, fiber_after(OWN_MS)) == -ETIMEDOUT);
	drop_channels(&t);
}

static void test_select_does_not_send_to_itself(void **state)
{
	(void)state;
	EXPLORE_ALL(send_to_itself, NULL, .preemptions = 0);
}

/* -- two selects that could serve each other -- */

static void *select_crosswise(void *arg)
{
	struct test *t = arg;
	int out = 7, in = 0, fired;
	struct fiber_select_case cases[2] = {
		{.op = FIBER_SELECT_SEND, .chan = t->chan[0], .elem = &out},
		{.op = FIBER_SELECT_RECV, .chan = t->chan[0], .elem = &in}};

	fired = fiber_select(cases, 2, FIBER_FOREVER);
	fiber_test_assert(fired >= 0 && cases[fired].result == 0);
	fiber_test_assert(in == (fired == 1 ? 7 : 0));
	t->sent[1] += fired == 0;
	t->received[1] += fired == 1;
	return NULL;
}

static void two_crosswise(void *arg)
{
	struct test t = {.sent = {0}};
	struct fiber *fibers[2];

	(void)arg;
	new_channels(&t, 0);
	own_spawn(fibers, 2, select_crosswise, &t, 0);
	own_join(fibers, 2);
	fiber_test_assert(t.sent[1] == 1 && t.received[1] == 1);
	drop_channels(&t);
}

static void test_of_two_crosswise_selects_one_sends_and_one_receives(void **state)
{
	(void)state;
	EXPLORE_ALL(two_crosswise, NULL, .preemptions = 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_message_is_taken_once_by_one_select),
		cmocka_unit_test(test_select_that_does_not_wait_finds_what_is_always_there),
		cmocka_unit_test(test_select_does_not_send_to_itself),
		cmocka_unit_test(test_of_two_crosswise_selects_one_sends_and_one_receives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
