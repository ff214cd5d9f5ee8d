/* SPDX-License-Identifier: MIT */
/*
 * minimize.c - remove deviations
 *
 * Zeller and Hildebrandt's delta debugging ("Simplifying and Isolating Failure-Inducing Input", IEEE
 * TSE 2002), with complements only: pieces of the list are left out, first large ones, then smaller
 * ones, until no single deviation can be left out.
 */
#include "explore/minimize.h"

#include <string.h>

#include "explore/interrupt.h"
#include "os/virtual.h"

#define TRIES_MAX 2000u
#define TIME_MAX  INT64_C(5000000000) /* ns */

struct search {
	const struct fib_test *test;
	const struct fib_shared *found;
	unsigned tries;
	int64_t end;
};

static bool comes_back(struct search *s, const struct fib_deviation *deviations, unsigned n)
{
	struct fib_worker w;
	bool back;

	if (s->tries++ >= TRIES_MAX || fib_virtual_real() > s->end || fib_interrupted())
		return false;
	if (fib_worker_try(s->test, deviations, n, false, &w) < 0)
		return false;
	fib_worker_wait(&w, s->test->options->hang_limit);
	back = fib_finding_same(w.shared, s->found);
	fib_worker_release(&w);
	return back;
}

/* The list without `count` deviations from `from` on; ret has room. */
static unsigned without(const struct fib_deviation *list, unsigned n, unsigned from, unsigned count,
			struct fib_deviation *ret)
{
	memcpy(ret, list, from * sizeof *list);
	memcpy(ret + from, list + from + count, (n - from - count) * sizeof *list);
	return n - count;
}

bool fib_minimize(const struct fib_test *test, const struct fib_shared *found,
		  struct fib_deviation *deviations, unsigned *n)
{
	struct search s = {test, found, 0, fib_virtual_real() + TIME_MAX};
	static struct fib_deviation rest[1u << 16];
	unsigned piece, from;

	if (*n > sizeof rest / sizeof *rest || !comes_back(&s, deviations, *n))
		return false;
	for (piece = *n; piece; piece /= 2) {
		for (from = 0; from < *n;) {
			const unsigned count = *n - from < piece ? *n - from : piece;
			const unsigned left = without(deviations, *n, from, count, rest);

			if (comes_back(&s, rest, left)) {
				memcpy(deviations, rest, left * sizeof *rest);
				*n = left;
			} else {
				from += count;
			}
		}
	}
	return true;
}
