/* SPDX-License-Identifier: MIT */
/*
 * select_at_once.c - look at all channels of a select at one moment
 *
 * A select looks at its cases one after another. Between two looks an element may enter a channel
 * that was already looked at and then leave one that was not. Both looks find nothing, although at
 * every moment one of the two channels held an element.
 *
 * A select that waits is not affected. It looks at each channel again when it joins the queue,
 * under the lock; a channel it has joined cannot become ready without claiming its wait. When it
 * has joined the last one, either no case is ready at that moment or the wait is claimed.
 *
 * A select that must not wait (deadline in the past, cancelled, pinned) looks once more, at all
 * channels at one moment. It holds the locks of all of them and reads the clock under them. What it
 * finds ready stays ready until it is done. This ends, since it looks once and takes each lock
 * once.
 *
 * A select with one case needs no such look, because its first look is under the lock. With several
 * cases the first looks only take a lock where a case seems to be ready.
 *
 * Deadlock is impossible: selects take the locks in address order, and no other code takes a second
 * channel lock while it holds one.
 *
 * Descriptors belong to the system and are looked at one after another. A timer that is due stays
 * due.
 */
#include <fiber/time.h>

#include "os/spin.h"
#include "sync/selection.h"

/* Restore the heap property of a[0..n-1] below a[i]. */
static void sift(struct fiber_chan **a, uint32_t i, uint32_t n)
{
	struct fiber_chan *top = a[i];
	uint32_t below;

	for (; (below = 2 * i + 1) < n; i = below) {
		if (below + 1 < n && (uintptr_t)a[below] < (uintptr_t)a[below + 1])
			below++;
		if ((uintptr_t)top >= (uintptr_t)a[below])
			break;
		a[i] = a[below];
	}
	a[i] = top;
}

/* Heap sort by address: n log n steps for every input. */
static void sort(struct fiber_chan **a, uint32_t n)
{
	struct fiber_chan *top;
	uint32_t i;

	for (i = n / 2; i-- > 0;)
		sift(a, i, n);
	while (n-- > 1) {
		top = a[0];
		a[0] = a[n];
		a[n] = top;
		sift(a, 0, n);
	}
}

/* Lock every channel of the cases once, lowest address first. Returns the number of channels. */
static uint32_t lock_channels(const struct fib_selection *s, struct fiber_chan **locks)
{
	uint32_t i, cases = 0, n = 0;

	for (i = 0; i < s->count; i++)
		if (fib_case_has_channel(&s->cases[i]))
			locks[cases++] = s->cases[i].chan;
	sort(locks, cases);
	for (i = 0; i < cases; i++) {
		if (n && locks[n - 1] == locks[i])
			continue;
		fib_chan_lock(locks[i]);
		locks[n++] = locks[i];
	}
	return n;
}

/* With the locks held. *wake is set as by fib_chan_try_locked(). */
static bool look_locked(struct fiber_select_case *c, int64_t now, struct fib_wake *wake)
{
	if (fib_case_has_channel(c))
		return fib_chan_try_locked(c->chan, fib_case_side(c), c->elem, &c->result, wake);
	if (c->op != FIBER_SELECT_TIMER || c->at > now)
		return false;
	c->result = 0;
	return true;
}

int fib_select_look_at_once(struct fib_selection *s)
{
	struct fiber_chan *few[FIB_SELECT_FEW], **locks = s->locks ? s->locks : few;
	struct fib_wake wake = {NULL, NULL};
	uint32_t n = lock_channels(s, locks), i, at = 0;
	int64_t now = s->timer >= 0 ? fiber_now() : 0;
	bool done = false;

	for (i = 0; i < s->count && !done; i++) {
		at = s->places[i].turn;
		done = look_locked(&s->cases[at], now, &wake);
	}
	while (n-- > 0)
		fib_chan_unlock(locks[n]);
	if (wake.word)
		fib_wake(&wake, true);
	return done ? (int)at : -1;
}
