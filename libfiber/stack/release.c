/* SPDX-License-Identifier: MIT */
/*
 * release.c - give back all memory of free stacks, page tables included
 *
 * Pages are dropped stack by stack. Page tables are different: the kernel frees a table only if one
 * call drops all that it describes, 2 MiB and more, and a guard is an entry in it. So neighbours
 * are dropped together, with their guards, which are made again when the stacks are taken
 * (class.c).
 *
 * Neighbours are found by sorting. Sorting a million stacks takes too long for a spin lock, so the
 * stacks are taken out of the class, a portion at a time. No thread can take them meanwhile, but
 * the class may have to cut new ones. Promised stacks stay: a fiber may start at any moment.
 *
 * While guards are split (guard.c) a run is several mappings, and no table would be freed: so only
 * pages are dropped then. A run may still contain some such guards. They fault without entries.
 */
#include "stack/release.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "os/os.h"
#include "os/spin.h"
#include "stack/guard.h"

#define PORTION	   16384u
#define AT_ONCE	   256u	      /* stacks put back under one lock */
#define WHOLE_RUNS (2u << 20) /* what one page table describes */

static size_t drop_pages(struct fib_stack_class *c)
{
	size_t n, bytes = 0;

	fib_spin_lock(&c->lock);
	for (n = c->count - c->cold; n && c->cold < c->count; n--) {
		const struct fib_stack *stack = &c->free[c->cold++];

		c->trimmed++;
		bytes += fib_os_give_back((uint64_t)(uintptr_t)stack->low, stack->size);
		/* As in fib_class_trim(): no thread waits for long. */
		fib_spin_unlock(&c->lock);
		fib_spin_lock(&c->lock);
	}
	c->idle = c->count - c->cold;
	fib_spin_unlock(&c->lock);
	return bytes;
}

/* Under the lock: how many cold stacks from index `done` on could be taken out. */
static size_t spare(const struct fib_stack_class *c, size_t done)
{
	const size_t n = c->count - c->promised, cold = c->cold > done ? c->cold - done : 0;

	return n < cold ? n : cold;
}

/* Take the last cold stacks out of the class, but none before index `done`, PORTION at most.
 * Returns how many. */
static size_t take_out(struct fib_stack_class *c, size_t done, struct fib_stack *ret)
{
	size_t n;

	fib_spin_lock(&c->lock);
	n = spare(c, done);
	if (n > PORTION)
		n = PORTION;
	memcpy(ret, &c->free[c->cold - n], n * sizeof *ret);
	memmove(&c->free[c->cold - n], &c->free[c->cold], (c->count - c->cold) * sizeof *ret);
	c->cold -= n;
	c->count -= n;
	fib_spin_unlock(&c->lock);
	return n;
}

/* Put n stacks back from index `done` on, or behind all cold ones if there are fewer. */
static void put_back(struct fib_stack_class *c, size_t done, const struct fib_stack *stacks,
		     size_t n)
{
	size_t i;

	fib_spin_lock(&c->lock);
	for (i = 0; i < n; i++) {
		if (i % AT_ONCE == AT_ONCE - 1) {
			fib_spin_unlock(&c->lock);
			fib_spin_lock(&c->lock);
		}
		fib_class_push_cold(c, &stacks[i]);
		if (done + i < c->cold - 1) {
			c->free[c->cold - 1] = c->free[done + i];
			c->free[done + i] = stacks[i];
		}
	}
	fib_spin_unlock(&c->lock);
}

static int by_address(const void *a, const void *b)
{
	const char *low_a = ((const struct fib_stack *)a)->low;
	const char *low_b = ((const struct fib_stack *)b)->low;

	return (low_a > low_b) - (low_a < low_b);
}

/* Drop everything of n neighbours, the lowest first; their guards wait for the next take. */
static void drop_run(struct fib_stack *stacks, size_t n)
{
	const size_t guard = fib_class_guard(stacks->class), stride = stacks->size + guard;
	char *low = (char *)stacks->low - guard;
	bool guarded = false;
	size_t i;

	for (i = 0; i < n; i++)
		guarded |= stacks[i].guard != 0;
	/* In locked memory no guard could be made again. */
	if (!guarded || n * stride < WHOLE_RUNS || fib_os_is_locked(low))
		return;
	/* Also if a call fails: it may have removed some. */
	for (i = 0; i < n; i++)
		stacks[i].guard = 0;
	fib_os_guard_remove(low, n * stride);
	fib_os_discard(low, n * stride);
}

static void drop_runs(struct fib_stack *stacks, size_t n)
{
	const size_t stride = stacks->size + fib_class_guard(stacks->class);
	size_t first = 0, end;

	qsort(stacks, n, sizeof *stacks, by_address);
	while (first < n) {
		for (end = first + 1; end < n; end++)
			if ((char *)stacks[end - 1].low + stride != (char *)stacks[end].low)
				break;
		drop_run(&stacks[first], end - first);
		first = end;
	}
}

static void drop_tables(struct fib_stack_class *c)
{
	size_t done = 0, left, n;
	void *portion;

	fib_spin_lock(&c->lock);
	left = c->locked ? 0 : spare(c, 0); /* locked: a guard may not be made again */
	fib_spin_unlock(&c->lock);
	/* Without memory for the portion the tables stay. */
	if (!left || fib_os_map_buffer(PORTION * sizeof(struct fib_stack), &portion) < 0)
		return;
	/* Others give stacks meanwhile: no more are taken than there were. */
	while (done < left && (n = take_out(c, done, portion)) != 0) {
		drop_runs(portion, n);
		put_back(c, done, portion, n);
		done += n;
	}
	fib_os_unmap(portion, PORTION * sizeof(struct fib_stack));
}

size_t fib_class_release(struct fib_stack_class *c)
{
	const size_t bytes = drop_pages(c);

	if (fib_guard_stays_inside())
		drop_tables(c);
	return bytes;
}
