/* SPDX-License-Identifier: MIT */
/*
 * network.c - the times of requests are exponentially distributed
 *
 * Requests do not wait for answers. The same random numbers are drawn twice for each connection:
 * when a request arrives, and when it is taken. So no queue of times is kept.
 */
#include "bench/model/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/model/machine.h"
#include "poll/poller.h"

struct draws {
	int64_t at; /* ns: of the next request */
	uint64_t state;
};

struct connection {
	void *token;
	struct draws arrivals, taken;
	unsigned waiting;
};

static struct {
	struct connection *all;
	struct connection **heap; /* by the time of the next arrival */
	unsigned count;
	double mean;
	long left; /* requests that have not arrived */
	long answers;
	unsigned opened;
} network;

static void draw(struct draws *d)
{
	uint64_t x = d->state;
	double part;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	d->state = x;
	part = ((double)(x >> 11) + 0.5) / 9007199254740992.0;
	d->at += (int64_t)(-log(part) * network.mean);
}

static void sift_down(unsigned at)
{
	struct connection *moved = network.heap[at];
	unsigned below;

	for (; (below = 2 * at + 1) < network.count; at = below) {
		if (below + 1 < network.count &&
		    network.heap[below + 1]->arrivals.at < network.heap[below]->arrivals.at)
			below++;
		if (network.heap[below]->arrivals.at >= moved->arrivals.at)
			break;
		network.heap[at] = network.heap[below];
	}
	network.heap[at] = moved;
}

static int64_t next(void)
{
	return network.left ? network.heap[0]->arrivals.at : INT64_MAX;
}

static int take(int64_t now, struct fib_poll_event *events, int max)
{
	int n;

	for (n = 0; n < max && next() <= now; n++) {
		struct connection *c = network.heap[0];

		events[n] = (struct fib_poll_event){(uint64_t)(uintptr_t)c->token, 1};
		c->waiting++;
		network.left--;
		draw(&c->arrivals);
		sift_down(0);
	}
	return n;
}

void fib_network_begin(unsigned n, void *const *tokens, int64_t from, int64_t mean, long requests)
{
	static const struct fib_model_source source = {next, take};
	unsigned i;

	network.all = calloc(n, sizeof *network.all);
	network.heap = calloc(n, sizeof(struct connection *));
	if (!network.all || !network.heap) {
		fprintf(stderr, "model: no memory for connections\n");
		exit(2);
	}
	network.count = n;
	network.mean = (double)mean;
	network.left = requests;
	for (i = 0; i < n; i++) {
		struct connection *c = network.heap[i] = &network.all[i];

		c->token = tokens[i];
		c->arrivals.at = from;
		c->arrivals.state = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ fib_model_seed;
		draw(&c->arrivals);
		c->taken = c->arrivals;
	}
	for (i = n; i--;)
		sift_down(i);
	fib_model_source = &source;
}

int64_t fib_network_take(unsigned connection)
{
	struct connection *c = &network.all[connection];
	int64_t at;

	if (connection >= network.count || !c->waiting)
		return -1;
	at = c->taken.at;
	c->waiting--;
	draw(&c->taken);
	return at;
}

void fib_network_open(void)
{
	network.opened++;
}

unsigned fib_network_opened(void)
{
	return network.opened;
}

long fib_network_answer(void)
{
	return ++network.answers;
}
