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
 * So the first guards split, and gcore saves every stack of a program of ordinary size. When there
 * are more, new guards are made inside, and each of them converts two of the first ones into guards
 * inside as well, until a program of a million stacks has a few mappings again. (The kernel's own
 * cores always contain all stacks.)
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

/* L: all under lock */
static struct {
	_Atomic uint32_t lock;
	uint32_t made;	     /* number ever split, up to SPLITS */
	uint32_t kept;	     /* the first of these that are still split */
	_Atomic bool inside; /* L writes, A reads: the last guard was made inside */
	struct {
		void *at;
		size_t size;
	} split[SPLITS];
} guards;

void fib_guard_lock(void)
{
	fib_spin_lock(&guards.lock);
}

void fib_guard_unlock(void)
{
	fib_spin_unlock(&guards.lock);
}

static int split(void *at, size_t size)
{
	int rc = fib_os_guard_split(at, size);

	if (rc == 0 && guards.made < SPLITS) {
		guards.split[guards.made].at = at;
		guards.split[guards.made].size = size;
		guards.kept = ++guards.made;
	}
	return rc;
}

/* If this fails, the guard stays as it was. */
static void turn_two(void)
{
	int i;

	for (i = 0; i < 2 && guards.kept; i++) {
		guards.kept--;
		fib_os_guard_join(guards.split[guards.kept].at, guards.split[guards.kept].size);
	}
}

static int split_one(void *at, size_t size)
{
	int rc = split(at, size);

	return rc < 0 ? rc : 1;
}

int fib_guard(void *at, size_t size, size_t stride, unsigned n)
{
	int made, i;

	fib_spin_lock(&guards.lock);
	if (guards.made < SPLITS) {
		made = split_one(at, size);
	} else {
		made = fib_os_guard_inside_many(at, size, stride, n);
		for (i = 0; i < made && guards.kept; i++)
			turn_two();
		fib_store(&guards.inside, made > 0);
		if (made < 0)
			made = split_one(at, size);
	}
	fib_spin_unlock(&guards.lock);
	return made;
}

bool fib_guard_can_wait(void)
{
	return fib_load(&guards.inside);
}
