/* SPDX-License-Identifier: MIT */
/*
 * guard.c - which kind of guard a stack gets
 *
 * A guard that is a mapping of its own (mprotect) splits the mapping it lies in, and a process may have some
 * 65,000 mappings: 32,753 stacks. A guard inside a mapping (MADV_GUARD_INSTALL, Linux 6.13) costs none,
 * and a million stacks are one mapping. But gdb's gcore, which saves a process mapping by mapping, gives
 * a mapping up at the first page that it cannot read, and every stack behind such a guard is lost to it.
 *
 * So the first guards split, and gcore saves every stack of a program of ordinary size. When there are
 * more, new guards are made inside, and with each of them two of the first ones are turned into guards
 * inside as well, until a program of a million stacks has a few mappings again. (The kernel's own cores
 * always have all stacks.)
 *
 * How large: a frame no larger than the guard cannot step over it. A page of guard costs an entry of 8 bytes in the page tables,
 * and time when the stack is made, once. For a stack of 256 KiB with one page in use (bench/guards.c, a million of them):
 *
 *	guard		4 KiB	16 KiB	64 KiB	256 KiB	1 MiB
 *	page tables	521	545	641	1,026	2,565	bytes a stack
 *	made in		0.5	0.6	0.9	2.1	10	us
 *
 * So 64 KiB is the default: 96 bytes more than 16 KiB, of 5,200 that a suspended fiber takes. 1 MiB would be 2 KiB more. With
 * -fstack-clash-protection, which touches each page of a frame, any guard stops every frame; the size is for code
 * that was compiled without it.
 *
 * Where the kernel knows no guards inside a mapping, all of them split. A guard that cannot be made
 * is an error, never a stack without one.
 */
#include "stack/guard.h"

#include <stdint.h>

#include "base/atomic.h"
#include "os/os.h"
#include "os/spin.h"

/* Two mappings each: a quarter of what vm.max_map_count allows if nobody changed it. */
#define SPLITS 8192

/* L: all under lock */
static struct {
	_Atomic uint32_t lock;
	uint32_t made; /* how many were ever split, up to SPLITS */
	uint32_t kept; /* the first so many of these are split still */
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

/* Nothing is lost where it does not work: the guard stays as it was. */
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
		if (made < 0)
			made = split_one(at, size);
	}
	fib_spin_unlock(&guards.lock);
	return made;
}
