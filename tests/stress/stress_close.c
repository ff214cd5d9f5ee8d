/* SPDX-License-Identifier: MIT */
/*
 * stress_close.c - channels that are closed and freed while all actors use them
 *
 * Each user has a reference. No call waits on a closed channel. The number of elements that come
 * out is at most the number that went in; both are equal once no waiter and no element is left.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/stress/stress.h"

#define CHANNELS 4

struct line {
	struct fiber_chan *chan;
	_Atomic uint64_t sent, received;
	_Atomic unsigned holders;
	_Atomic bool closed;
};

static struct {
	_Atomic int lock;
	struct line *line; /* under the lock */
} place[CHANNELS];

static struct line *open_line(struct stress_actor *a)
{
	struct line *l = calloc(1, sizeof *l);

	if (!l || fiber_chan_new(sizeof(uint64_t), stress_rand(a, 3), &l->chan) < 0)
		stress_wrong("no memory for a channel");
	l->holders = 1;
	return l;
}

static struct line *hold(unsigned i)
{
	struct line *l;

	stress_guard(&place[i].lock);
	l = place[i].line;
	if (l)
		l->holders++;
	stress_unguard(&place[i].lock);
	return l;
}

/* The last user takes out the elements that are left. */
static void let_go(struct line *l)
{
	uint64_t number;

	if (--l->holders)
		return;
	while (fiber_chan_recv(l->chan, &number, 0) == 0)
		l->received++;
	if (l->sent != l->received)
		stress_wrong("a closed channel: %llu sent, %llu received",
			     (unsigned long long)l->sent, (unsigned long long)l->received);
	fiber_chan_unref(l->chan);
	free(l);
}

static void use(struct stress_actor *a, struct line *l)
{
	uint64_t number = 4711;
	int rc;

	if (stress_rand(a, 2)) {
		rc = fiber_chan_send(l->chan, &number, stress_deadline(a));
		l->sent += rc == 0;
	} else {
		number = 0;
		rc = fiber_chan_recv(l->chan, &number, stress_deadline(a));
		l->received += rc == 0;
		if (rc == 0 && number != 4711)
			stress_wrong("received what nobody sent");
	}
	if (rc != -EPIPE)
		stress_expect(rc, "a call of a channel");
	else if (!l->closed)
		stress_wrong("-EPIPE of an open channel");
}

static void come_and_go(struct stress_actor *a)
{
	while (stress_on(a, "uses a channel that will be closed")) {
		struct line *l = hold(stress_rand(a, CHANNELS));

		if (l) {
			use(a, l);
			let_go(l);
		} else if (fiber_yield() < 0) {
			fiber_sleep(1000);
		}
	}
}

static void shut(unsigned i, struct line *next)
{
	struct line *l;

	stress_guard(&place[i].lock);
	l = place[i].line;
	place[i].line = next;
	stress_unguard(&place[i].lock);
	if (!l)
		return;
	l->closed = true;
	fiber_chan_close(l->chan);
	let_go(l);
}

static void replace(struct stress_actor *a)
{
	unsigned i;

	while (stress_on(a, "closes a channel")) {
		shut(stress_rand(a, CHANNELS), open_line(a));
		fiber_sleep(stress_rand(a, 1000000));
	}
	/* No user is left. */
	for (i = 0; i < CHANNELS; i++)
		shut(i, NULL);
}

static void begin(void)
{
	stress_add("come-and-go", 0, 16, come_and_go, NULL);
	stress_add("come-and-go-mortal", STRESS_MORTAL, 4, come_and_go, NULL);
	stress_add("come-and-go-thread", STRESS_THREAD, 3, come_and_go, NULL);
	stress_add("close", STRESS_SERVER, 1, replace, NULL);
}

const struct stress_theme stress_close = {"close", begin, NULL};
