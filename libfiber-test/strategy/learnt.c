/* SPDX-License-Identifier: MIT */
/*
 * learnt.c - what the first schedule of a test tells about the others
 *
 * That schedule may run in a process of its own, so what it leaves is in memory that its parent
 * shares.
 */
#include <stddef.h>
#include <sys/mman.h>

#include "base/check.h"
#include "strategy/strategy.h"

#define FIBERS 65536u /* of later ones nothing is learnt */

static struct {
	unsigned choices;
	unsigned faults;
	unsigned *calls; /* by number; NULL: nothing is learnt */
} learnt = {.choices = 1};

void fib_learnt_begin(void)
{
	const size_t size = FIBERS * sizeof *learnt.calls;

	if (learnt.calls)
		fib_check(munmap(learnt.calls, size) == 0);
	learnt.calls = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	fib_check(learnt.calls != MAP_FAILED);
}

void fib_learnt_steps(const struct fib_step *steps, unsigned n)
{
	unsigned i;

	learnt.choices = n ? n : 1;
	learnt.faults = 0;
	for (i = 0; i < n; i++)
		if (steps[i].kind == FIB_CHOICE_FAULT)
			learnt.faults += steps[i].n - 1u;
}

void fib_learnt_call(uint32_t number)
{
	if (learnt.calls && number < FIBERS)
		learnt.calls[number]++;
}

unsigned fib_learnt_choices(void)
{
	return learnt.choices;
}

unsigned fib_learnt_left(uint32_t number, unsigned done)
{
	const unsigned calls = learnt.calls && number < FIBERS ? learnt.calls[number] : 0;

	return calls > done ? calls - done : 1;
}

unsigned fib_learnt_faults(void)
{
	return learnt.faults;
}
