/* SPDX-License-Identifier: MIT */
/*
 * stress_chan.c - a rendezvous and two bounded channels: nothing lost, nothing doubled, in order
 *
 * Each sender sends increasing numbers into each channel; a number is used up only if the send
 * succeeded. A receiver must see the numbers of each sender of a channel rise. In the end as many
 * numbers came out as went in, with the same sum of squares: a loss and a double would have to
 * cancel out in both.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/stress/stress.h"

#define CHANNELS 3
#define ACTORS	 512

struct element {
	uint64_t number;
	uint32_t who, filler[5];
};

static struct {
	struct fiber_chan *chan;
	uint64_t next[ACTORS]; /* plain: each entry is used only by its sender */
	_Atomic uint64_t sent, sent_squares, received, received_squares;
} line[CHANNELS];

static int silent[2]; /* a pipe that is never written to */

static struct element make(struct stress_actor *a, unsigned i)
{
	return (struct element){line[i].next[stress_number(a)], stress_number(a), {i, i, i, i, i}};
}

static void count_sent(struct stress_actor *a, unsigned i)
{
	const uint64_t number = line[i].next[stress_number(a)]++;

	line[i].sent++;
	line[i].sent_squares += number * number;
}

/* seen: the lowest number that may come next from each sender. */
static void count_received(unsigned i, const struct element *e, uint64_t *seen)
{
	unsigned j;

	for (j = 0; j < 5; j++)
		if (e->who >= ACTORS || e->filler[j] != i)
			stress_wrong("channel %u: a torn element", i);
	if (e->number < seen[e->who])
		stress_wrong("channel %u: number %llu of %u after %llu", i,
			     (unsigned long long)e->number, e->who,
			     (unsigned long long)seen[e->who] - 1);
	seen[e->who] = e->number + 1;
	line[i].received++;
	line[i].received_squares += e->number * e->number;
}

static void send_on(struct stress_actor *a)
{
	while (stress_on(a, "fiber_chan_send")) {
		const unsigned i = stress_rand(a, CHANNELS);
		const struct element e = make(a, i);
		const int rc = fiber_chan_send(line[i].chan, &e, stress_deadline(a));

		stress_expect(rc, "fiber_chan_send");
		if (rc == 0)
			count_sent(a, i);
		stress_pause(a);
	}
}

static void receive(struct stress_actor *a)
{
	uint64_t *const seen = calloc(ACTORS, sizeof *seen);
	const unsigned i = stress_number(a) % CHANNELS;
	int rc = 0;

	while (rc != -EPIPE && !fiber_cancelled()) {
		struct element e;

		stress_at(a, "fiber_chan_recv");
		rc = fiber_chan_recv(line[i].chan, &e, stress_deadline(a));
		if (rc == 0)
			count_received(i, &e, seen);
		else if (rc != -EPIPE)
			stress_expect(rc, "fiber_chan_recv");
		stress_pause(a);
	}
	free(seen);
}

static void select_send(struct stress_actor *a)
{
	while (stress_on(a, "fiber_select, sends")) {
		struct fiber_select_case cases[CHANNELS];
		struct element e[CHANNELS];
		unsigned i;
		int rc;

		for (i = 0; i < CHANNELS; i++) {
			e[i] = make(a, i);
			cases[i] = (struct fiber_select_case){
				.op = FIBER_SELECT_SEND, .chan = line[i].chan, .elem = &e[i]};
		}
		rc = fiber_select(cases, CHANNELS, stress_deadline(a));
		stress_expect(rc, "fiber_select");
		if (rc >= 0 && cases[rc].result)
			stress_wrong("fiber_select: a send gave %d", cases[rc].result);
		if (rc >= 0)
			count_sent(a, (unsigned)rc);
		stress_pause(a);
	}
}

/* Two of the cases are a timer and a descriptor that is never ready. */
static void select_receive(struct stress_actor *a)
{
	uint64_t *const seen = calloc(CHANNELS * ACTORS, sizeof *seen);
	struct fiber_select_case cases[CHANNELS + 2];
	unsigned open = CHANNELS, i;
	int rc = 0;

	for (i = 0; i < CHANNELS; i++)
		cases[i] =
			(struct fiber_select_case){.op = FIBER_SELECT_RECV, .chan = line[i].chan};
	cases[CHANNELS] = (struct fiber_select_case){.op = FIBER_SELECT_TIMER};
	cases[CHANNELS + 1] = (struct fiber_select_case){
		.op = FIBER_SELECT_FD, .fd = silent[0], .events = POLLIN};
	while (open && !fiber_cancelled()) {
		struct element e = {0};

		stress_at(a, "fiber_select, receives");
		cases[0].elem = cases[1].elem = cases[2].elem = &e;
		cases[CHANNELS].at = stress_deadline(a);
		rc = fiber_select(cases, CHANNELS + stress_rand(a, 3), stress_deadline(a));
		stress_expect(rc, "fiber_select");
		if (rc > CHANNELS)
			stress_wrong("fiber_select: a silent descriptor gave %x", cases[rc].result);
		if (rc >= 0 && rc < CHANNELS && cases[rc].result == -EPIPE) {
			cases[rc].chan = NULL;
			open--;
		} else if (rc >= 0 && rc < CHANNELS) {
			count_received((unsigned)rc, &e, seen + rc * ACTORS);
		}
	}
	free(seen);
}

/* Close all once there are no senders any more. */
static void close_all(struct stress_actor *a)
{
	unsigned i;

	while (stress_on(a, "waits for the senders"))
		fiber_sleep(1000000);
	for (i = 0; i < CHANNELS; i++)
		fiber_chan_close(line[i].chan);
}

static void begin(void)
{
	static const size_t room[CHANNELS] = {0, 1, 7};
	unsigned i;

	memset(line, 0, sizeof line);
	for (i = 0; i < CHANNELS; i++)
		if (fiber_chan_new(sizeof(struct element), room[i], &line[i].chan) < 0)
			stress_wrong("no memory for a channel");
	if (pipe(silent) < 0)
		stress_wrong("no pipe");
	stress_add("send", 0, 9, send_on, NULL);
	stress_add("send-mortal", STRESS_MORTAL, 3, send_on, NULL);
	stress_add("send-thread", STRESS_THREAD, 2, send_on, NULL);
	stress_add("select-send", 0, 3, select_send, NULL);
	stress_add("select-send-mortal", STRESS_MORTAL, 2, select_send, NULL);
	stress_add("receive", STRESS_SERVER, 9, receive, NULL);
	stress_add("receive-mortal", STRESS_SERVER | STRESS_MORTAL, 3, receive, NULL);
	stress_add("receive-thread", STRESS_SERVER | STRESS_THREAD, 3, receive, NULL);
	stress_add("select-receive", STRESS_SERVER, 3, select_receive, NULL);
	stress_add("select-receive-mortal", STRESS_SERVER | STRESS_MORTAL, 2, select_receive, NULL);
	stress_add("select-receive-thread", STRESS_SERVER | STRESS_THREAD, 1, select_receive, NULL);
	stress_add("close", STRESS_SERVER, 1, close_all, NULL);
}

static void check(void)
{
	unsigned i;

	for (i = 0; i < CHANNELS; i++) {
		if (line[i].sent != line[i].received ||
		    line[i].sent_squares != line[i].received_squares)
			stress_wrong("channel %u: %llu sent, %llu received", i,
				     (unsigned long long)line[i].sent,
				     (unsigned long long)line[i].received);
		fiber_chan_unref(line[i].chan);
	}
	fiber_close(silent[0]);
	fiber_close(silent[1]);
}

const struct stress_theme stress_chan = {"chan", begin, check};
