/* SPDX-License-Identifier: MIT */
/*
 * guard.c - which kind of guard a stack gets
 *
 * A guard that is a separate mapping (mprotect) splits the mapping around it, and a process may
 * have about 65,000 mappings: 32,753 stacks. A guard inside a mapping (MADV_GUARD_INSTALL, Linux
 * 6.13) needs none, and a million stacks are one mapping. But gdb's gcore, which saves a process
 * mapping by mapping, stops saving a mapping at the first page that it cannot read, so it loses
 * every stack behind such a guard.
 *
 * So guards are made inside, and those of a program of ordinary size, 8,192 at most, are then
 * turned into mappings of their own: gcore saves every stack. To split a mapping takes 4 us, during
 * which no other thread of the process can map, unmap or split, and a program that makes a thousand
 * fibers at once should not wait for that. So the service thread does it, some every 20 ms, when
 * the guards are at least that old. Without a service thread the maker of a guard does it at once.
 * When a program has more guards, they are all turned back into guards inside, until a program of a
 * million stacks has a few mappings again. (The kernel's own cores always contain all stacks.) A
 * guard faults at every moment of this.
 *
 * The size: a frame no larger than the guard cannot step over it. A page of guard costs 8 bytes of
 * page table, and time once, when the stack is made. For a stack of 256 KiB with one page in use
 * (bench/guards.c, a million of them):
 *
 *	guard		4 KiB	16 KiB	64 KiB	256 KiB	1 MiB
 *	page tables	521	545	641	1,026	2,565	bytes a stack
 *	made in		0.5	0.6	0.9	2.1	10	us
 *
 * So 64 KiB is the default: it costs 96 bytes more than 16 KiB, of the 5,200 bytes of a suspended
 * fiber. 1 MiB would cost 2 KiB more. With -fstack-clash-protection, which touches each page of a
 * frame, any guard stops every frame; the size matters for code compiled without it.
 *
 * A guard that is made again after fiber_trim() counts again.
 *
 * A guard inside a mapping cannot fail for lack of mappings, only for lack of memory for its page
 * tables, as the first access to the stack can. So it can be made when the stack is first taken: a
 * stack that is only promised takes no page tables (class.c).
 *
 * If the kernel does not support guards inside a mapping, all guards split. If a guard cannot be
 * made, the call fails; there is never a stack without a guard.
 */
#include "stack/guard.h"

#include <stdint.h>

#include "base/atomic.h"
#include "os/os.h"
#include "os/spin.h"

/* Two mappings each: a quarter of the default vm.max_map_count. */
#define SPLITS 8192

static struct {
	_Atomic uint32_t lock;
	/* A: number of guards made inside, not counted further than a little over SPLITS */
	_Atomic uint32_t made;
	uint32_t split;	       /* L: the first of these are mappings of their own */
	uint32_t ripe;	       /* L: those made before the last call of fib_guard_separate() */
	bool stuck;	       /* L: the last one could not be turned back */
	_Atomic bool inside;   /* A: the last guard was made inside */
	_Atomic bool deferred; /* A: see guard.h */
	struct {
		void *_Atomic at; /* A: guard.entry; NULL: not yet written */
		size_t size;
	} guard[SPLITS];
} guards;

void fib_guard_lock(void)
{
	fib_spin_lock(&guards.lock);
}

void fib_guard_unlock(void)
{
	fib_spin_unlock(&guards.lock);
}

/* Remember a guard that was made inside. */
static void note(void *at, size_t size)
{
	uint32_t i = fib_load(&guards.made);

	if (i > SPLITS)
		return;
	i = fib_add(&guards.made, 1);
	if (i >= SPLITS)
		return;
	guards.guard[i].size = size;
	/* label: guard.entry -- a thread that sees the address sees the size. */
	fib_store_release(&guards.guard[i].at, at);
}

/* Under the lock: split up to n of the first `limit` guards. One that cannot be split stays as it is. */
static void split_some(uint32_t limit, unsigned n)
{
	for (; n && guards.split < limit; n--) {
		/* pairs: guard.entry */
		void *at = fib_load_acquire(&guards.guard[guards.split].at);

		if (!at)
			break;
		fib_os_guard_split(at, guards.guard[guards.split].size);
		guards.split++;
	}
}

/* Under the lock: turn up to n of those that were split into guards inside. In locked memory they stay. */
static void join_some(unsigned n)
{
	guards.stuck = false;
	for (; n && guards.split && !guards.stuck; n--) {
		const uint32_t last = guards.split - 1;

		guards.stuck = fib_os_guard_join(fib_load(&guards.guard[last].at),
						 guards.guard[last].size) < 0;
		if (!guards.stuck)
			guards.split = last;
	}
}

static bool too_many(uint32_t made)
{
	return made > SPLITS;
}

void fib_guard_separate(unsigned n)
{
	const uint32_t made = fib_load(&guards.made);

	fib_spin_lock(&guards.lock);
	if (too_many(made)) {
		join_some(n);
	} else {
		split_some(guards.ripe, n);
		guards.ripe = made;
	}
	fib_spin_unlock(&guards.lock);
}

bool fib_guard_waits(void)
{
	const uint32_t made = fib_load(&guards.made);
	bool waits;

	fib_spin_lock(&guards.lock);
	waits = too_many(made) ? guards.split > 0 && !guards.stuck : guards.split < made;
	fib_spin_unlock(&guards.lock);
	return waits;
}

/* Without a service thread: two for each guard, so that all are done when there are twice as many. */
static void separate_now(unsigned n)
{
	const uint32_t made = fib_load(&guards.made);

	fib_spin_lock(&guards.lock);
	if (too_many(made))
		join_some(2 * n);
	else
		split_some(made, 2 * n);
	fib_spin_unlock(&guards.lock);
}

/* A guard that another thread was noting has an empty place: end before it. */
void fib_guard_forget(void)
{
	uint32_t i;

	if (too_many(fib_load(&guards.made)))
		return;
	for (i = guards.split; i < fib_load(&guards.made) && fib_load(&guards.guard[i].at); i++)
		;
	fib_store(&guards.made, i);
	if (guards.ripe > i)
		guards.ripe = i;
}

int fib_guard(void *at, size_t size, size_t stride, unsigned n)
{
	int made = fib_os_guard_inside_many(at, size, stride, n), i, rc;

	fib_store(&guards.inside, made > 0);
	for (i = 0; i < made; i++)
		note((char *)at + (size_t)i * stride, size);
	if (made > 0 && !fib_load(&guards.deferred))
		separate_now((unsigned)made);
	if (made >= 0)
		return made;
	rc = fib_os_guard_split(at, size);
	return rc < 0 ? rc : 1;
}

bool fib_guard_can_wait(void)
{
	return fib_load(&guards.inside);
}

bool fib_guard_stays_inside(void)
{
	return fib_load(&guards.inside) && too_many(fib_load(&guards.made));
}

bool fib_guard_splits_at_once(void)
{
	return !fib_load(&guards.deferred) && !too_many(fib_load(&guards.made));
}

void fib_guard_defer(bool deferred)
{
	fib_store(&guards.deferred, deferred);
}
