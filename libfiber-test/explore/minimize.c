/* SPDX-License-Identifier: MIT */
/*
 * minimize.c - fewer deviations, then earlier ones
 *
 * First deviations are removed: Zeller and Hildebrandt's delta debugging ("Simplifying and Isolating
 * Failure-Inducing Input", IEEE TSE 2002), with complements only. Pieces of the list are left out,
 * large ones first, until no single deviation can be left out.
 *
 * A list from which none can be removed may still be far from the shortest: a schedule that was found
 * at random switches at many places that only make up for each other. So one deviation alone is tried
 * at each choice of the schedule without any, the first ones first. If none is enough, each deviation
 * in turn is moved to the earliest choice, and there to the lowest alternative, with which the finding
 * stays. Then it may be possible again to remove one.
 *
 * A deviation is only moved among choices of its kind: a finding without a fault shall not end as one
 * with a fault. A list is always that of the choices that were made, because a deviation may be
 * impossible after another one was moved.
 */
#include "explore/minimize.h"

#include <stdlib.h>
#include <string.h>

#include "explore/interrupt.h"
#include "os/virtual.h"

/*
 * How much is done. The CPU time is that of the tries too: how busy the machine is must not decide
 * what is found.
 */
#define TRIES_MAX 2000u
#define CPU_MAX	  INT64_C(5000000000) /* ns */
#define MOVE_CPU  INT64_C(1000000000) /* ns, of all that comes after removing */

static bool timeless;

void fib_minimize_without_time(void)
{
	timeless = true;
}
#define LIST_MAX (1u << 16)

struct search {
	const struct fib_test *test;
	const struct fib_shared *found;
	struct fib_deviation *best, *next; /* next: to try */
	unsigned n;			   /* of best */
	struct fib_step *steps;		   /* of the last schedule that was kept */
	unsigned made;
	unsigned tries;
	int64_t end; /* CPU time */
};

static bool is_over(const struct search *s)
{
	return s->tries >= TRIES_MAX || fib_virtual_cpu() > s->end || fib_interrupted();
}

/* Keep the choices of a schedule. False: no memory. */
static bool keep(struct search *s, const struct fib_shared *shared)
{
	const unsigned made = fib_load(&shared->made);
	struct fib_step *steps = realloc(s->steps, (made + 1) * sizeof *steps);

	if (!steps)
		return false;
	memcpy(steps, shared->steps, made * sizeof *steps);
	s->steps = steps;
	s->made = made;
	return true;
}

static void take_best(struct search *s)
{
	unsigned i;

	s->n = 0;
	for (i = 0; i < s->made; i++)
		if (s->steps[i].chosen)
			s->best[s->n++] = (struct fib_deviation){i, s->steps[i].chosen};
}

/* Try the first n of s->next. Returns whether the finding came back; if so, they are the best. */
static bool try_next(struct search *s, unsigned n)
{
	struct fib_worker w;
	bool back;

	if (is_over(s))
		return false;
	s->tries++;
	if (fib_worker_try(s->test, s->next, n, false, &w) < 0)
		return false;
	fib_worker_wait(&w, s->test->options->hang_limit);
	back = fib_finding_same(w.shared, s->found) && keep(s, w.shared);
	if (back)
		take_best(s);
	fib_worker_release(&w);
	return back;
}

/* Leave out pieces of this length and shorter ones. Returns whether any could be. */
static bool remove_pieces(struct search *s, unsigned piece)
{
	bool removed = false;
	unsigned from;

	for (; piece; piece /= 2) {
		for (from = 0; from < s->n;) {
			const unsigned count = s->n - from < piece ? s->n - from : piece;

			memcpy(s->next, s->best, from * sizeof *s->next);
			memcpy(s->next + from, s->best + from + count,
			       (s->n - from - count) * sizeof *s->next);
			if (try_next(s, s->n - count))
				removed = true;
			else
				from += count;
		}
	}
	return removed;
}

/* Bits of the kinds of the best deviations. */
static unsigned kinds_of_best(const struct search *s)
{
	unsigned i, kinds = 0;

	for (i = 0; i < s->n; i++)
		kinds |= 1u << s->steps[s->best[i].step].kind;
	return kinds;
}

/* Look for one deviation that is enough. */
static bool find_single(struct search *s)
{
	const unsigned kinds = kinds_of_best(s);
	struct fib_step *steps;
	struct fib_worker w;
	unsigned i, alternative, made;
	bool enough = false;

	s->tries++;
	if (is_over(s) || fib_worker_try(s->test, NULL, 0, false, &w) < 0)
		return false;
	fib_worker_wait(&w, s->test->options->hang_limit);
	made = fib_load(&w.shared->made);
	steps = w.shared->steps;
	for (i = 0; i < made && !enough && !is_over(s); i++) {
		for (alternative = 1; alternative < steps[i].n && !enough; alternative++) {
			s->next[0] = (struct fib_deviation){i, alternative};
			enough = kinds >> steps[i].kind & 1 && try_next(s, 1);
		}
	}
	fib_worker_release(&w);
	return enough;
}

/* Move the i-th deviation to the earliest place. Returns whether it was moved. */
static bool move_one(struct search *s, unsigned i)
{
	const struct fib_deviation old = s->best[i];
	const unsigned kind = s->steps[old.step].kind;
	unsigned step, last, alternative;

	for (step = i ? s->best[i - 1].step + 1 : 0; step <= old.step && !is_over(s); step++) {
		last = step < old.step ? s->steps[step].n : old.chosen;
		for (alternative = 1; alternative < last; alternative++) {
			if (s->steps[step].kind != kind)
				continue;
			memcpy(s->next, s->best, s->n * sizeof *s->next);
			s->next[i] = (struct fib_deviation){step, alternative};
			if (try_next(s, s->n))
				return true;
		}
	}
	return false;
}

static bool move_all(struct search *s)
{
	bool moved = false;
	unsigned i;

	for (i = 0; i < s->n; i++)
		moved |= move_one(s, i);
	return moved;
}

static void minimize(struct search *s)
{
	remove_pieces(s, s->n);
	if (!timeless && s->end > fib_virtual_cpu() + MOVE_CPU)
		s->end = fib_virtual_cpu() + MOVE_CPU;
	if (s->n > 1 && find_single(s))
		return;
	while (move_all(s))
		remove_pieces(s, 1);
}

bool fib_minimize(const struct fib_test *test, const struct fib_shared *found,
		  struct fib_deviation *deviations, unsigned *n)
{
	static struct fib_deviation next[LIST_MAX];
	struct search s = {.test = test,
			   .found = found,
			   .best = deviations,
			   .next = next,
			   .end = timeless ? INT64_MAX : fib_virtual_cpu() + CPU_MAX};
	bool back;

	if (*n > LIST_MAX)
		return false;
	memcpy(next, deviations, *n * sizeof *next);
	back = try_next(&s, *n);
	if (back) {
		minimize(&s);
		*n = s.n;
	}
	free(s.steps);
	return back;
}
