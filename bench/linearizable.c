/* SPDX-License-Identifier: MIT */
/*
 * linearizable.c - how long fiber_test_linearizable() takes
 *
 * A row for each kind of history, over REPEATS random ones: the median and the longest time, how many
 * have an order, and for how many the search reached its limits. Without an argument all kinds,
 * else those whose name contains it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fiber/test.h>

#define REPEATS	   101
#define CALLS_MAX  1000u
#define FIBERS_MAX 64u
#define KEYS	   50u

enum { PUT, TAKE, WRITE, READ };

/* -- models -- */

struct queue {
	uint32_t n;
	uint16_t value[1023]; /* unused ones are 0 */
};

static bool queue_step(void *state, const struct fiber_test_call *call)
{
	struct queue *q = state;
	int64_t taken = -1;

	if (call->op == PUT) {
		q->value[q->n++] = (uint16_t)call->arg;
		return !call->end || call->result == 0;
	}
	if (q->n) {
		taken = q->value[0];
		memmove(q->value, q->value + 1, --q->n * sizeof *q->value);
		q->value[q->n] = 0;
	}
	return !call->end || call->result == taken;
}

static bool store_step(void *state, const struct fiber_test_call *call)
{
	int64_t *value = (int64_t *)state + call->key;

	if (call->op == READ)
		return !call->end || call->result == *value;
	*value = call->arg;
	return !call->end || call->result == 0;
}

static const struct fiber_test_model queue = {
	sizeof queue, sizeof(struct queue), NULL, queue_step, NULL, false};
static const struct fiber_test_model small_queue = {sizeof queue, 84,	NULL,
						    queue_step,	  NULL, false};
static const struct fiber_test_model store = {sizeof store, KEYS * 8, NULL, store_step, NULL, true};

/* -- histories -- */

static uint64_t random_state = 1;

static unsigned below(unsigned n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return n ? (unsigned)((random_state >> 33) % n) : 0;
}

enum {
	PUTS_FIRST = 1, /* the first half of the calls of a fiber */
	WRONG = 2,	/* the result of some call */
	WRONG_LAST = 4, /* the result of the last take or read */
	PENDING = 8,	/* half of the puts never return */
};

static const struct kind {
	const char *name;
	const struct fiber_test_model *model;
	unsigned fibers, calls, keys, flags;
} kinds[] = {
	{"queue, 40 calls of 4 fibers", &small_queue, 4, 40, 1, 0},
	{"  puts first, then takes", &small_queue, 4, 40, 1, PUTS_FIRST},
	{"  one result is wrong", &small_queue, 4, 40, 1, WRONG},
	{"  the last result is wrong", &small_queue, 4, 40, 1, WRONG_LAST},
	{"  puts first, a wrong result", &small_queue, 4, 40, 1, PUTS_FIRST | WRONG},
	{"  half of the puts pending", &small_queue, 4, 40, 1, PENDING},
	{"  the same, a wrong result", &small_queue, 4, 40, 1, PENDING | WRONG},
	{"queue, 40 calls of 40 fibers", &small_queue, 40, 40, 1, 0},
	{"queue, 1000 calls of 4 fibers", &queue, 4, 1000, 1, 0},
	{"  the last result is wrong", &queue, 4, 1000, 1, WRONG_LAST},
	{"store, 1000 calls on 50 keys", &store, 8, 1000, KEYS, 0},
	{"  one result is wrong", &store, 8, 1000, KEYS, WRONG},
	{"  of 64 fibers", &store, 64, 1000, KEYS, 0},
	{"register, 1000 calls of 8 fibers", &store, 8, 1000, 1, 0},
	{"  the last result is wrong", &store, 8, 1000, 1, WRONG_LAST},
};

static void take_effect(const struct kind *k, void *state, struct fiber_test_call *call)
{
	struct queue *q = state;

	call->end = 1;
	if (call->op == READ)
		call->result = ((int64_t *)state)[call->key];
	if (call->op == TAKE)
		call->result = q->n ? q->value[0] : -1;
	k->model->step(state, call);
	call->end = 0;
}

static struct fiber_test_call new_call(const struct kind *k, unsigned i, unsigned n)
{
	const bool first = k->flags & PUTS_FIRST ? i < k->calls / k->fibers / 2 : below(2);
	struct fiber_test_call call = {.key = below(k->keys), .arg = n + 1};

	if (k->model == &store)
		call.op = first ? WRITE : READ;
	else
		call.op = first ? PUT : TAKE;
	return call;
}

static void spoil(const struct kind *k, struct fiber_test_call calls[])
{
	unsigned i, last = 0;

	for (i = 0; i < k->calls; i++)
		if ((calls[i].op == TAKE || calls[i].op == READ) && calls[i].end > calls[last].end)
			last = i;
	if (k->flags & WRONG)
		for (last = below(k->calls); calls[last].op != TAKE && calls[last].op != READ;)
			last = last + 1 < k->calls ? last + 1 : 0;
	if (k->flags & (WRONG | WRONG_LAST))
		calls[last].result = calls[last].result > 1 ? calls[last].result - 1 : 2;
}

/* Each fiber makes its calls one after another; each takes effect between its begin and its end. */
static void make(const struct kind *k, struct fiber_test_call calls[])
{
	static _Alignas(16) unsigned char state[4096];
	unsigned phase[FIBERS_MAX] = {0}, made[FIBERS_MAX] = {0}, at[FIBERS_MAX] = {0};
	unsigned n = 0, left = k->calls;
	uint64_t clock = 0;

	memset(state, 0, sizeof state);
	while (left) {
		const unsigned f = below(k->fibers);

		if (phase[f] == 0) {
			if (n == k->calls)
				continue;
			calls[n] = new_call(k, made[f]++, n);
			calls[n].begin = ++clock;
			at[f] = n++;
		} else if (phase[f] == 1) {
			take_effect(k, state, &calls[at[f]]);
		} else if (k->flags & PENDING && calls[at[f]].op == PUT && below(2)) {
			calls[at[f]].result = 0;
			left--;
		} else {
			calls[at[f]].end = ++clock;
			left--;
		}
		phase[f] = (phase[f] + 1) % 3;
	}
	spoil(k, calls);
}

/* -- times -- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static void row(const struct kind *k)
{
	static struct fiber_test_call calls[CALLS_MAX];
	static uint32_t order[CALLS_MAX];
	double ms[REPEATS];
	unsigned good = 0, unknown = 0, i;

	for (i = 0; i < REPEATS; i++) {
		double start;
		int rc;

		make(k, calls);
		start = now();
		rc = fiber_test_linearizable(k->model, calls, k->calls, order);
		ms[i] = now() - start;
		good += rc == 1;
		unknown += rc == -ENOMEM;
	}
	qsort(ms, REPEATS, sizeof *ms, by_value);
	printf("%-34s %10.3f %10.3f %8u %8u\n", k->name, ms[REPEATS / 2], ms[REPEATS - 1], good,
	       unknown);
	fflush(stdout);
}

int main(int argc, char *argv[])
{
	unsigned i;

	printf("%-34s %10s %10s %8s %8s\n", "history", "median ms", "longest ms", "order",
	       "unknown");
	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (argc < 2 || strstr(kinds[i].name, argv[1]))
			row(&kinds[i]);
	return 0;
}
