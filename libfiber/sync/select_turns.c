/* SPDX-License-Identifier: MIT */
/*
 * select_turns.c - draw the order in which a select looks at its cases and joins their queues
 *
 * All orders are equally likely. A fiber draws from the generator of its carrier and shares no
 * state. A plain thread seeds a generator from a global counter.
 */
#include "base/atomic.h"
#include "base/rand.h"
#include "choice.h"
#include "sched/sched.h"
#include "sync/selection.h"

/* Uniform in [0, n). */
static uint32_t draw(uint32_t n)
{
	static _Atomic uint64_t threads;
	struct fib_carrier *c = fib_carrier_self();
	uint64_t seed;

	if (c)
		return fib_choice_of(n, "order of cases", fib_rand_below(&c->rand, n));
	seed = fib_add_relaxed(&threads, UINT64_C(0x9e3779b97f4a7c15)) | 1;
	fib_rand(&seed);
	return fib_rand_below(&seed, n);
}

void fib_select_shuffle(struct fib_selection *s)
{
	uint32_t i, j;

	for (i = 1; i < s->count; i++) {
		s->places[i].turn = i;
		j = draw(i + 1);
		s->places[i].turn = s->places[j].turn;
		s->places[j].turn = i;
	}
}
