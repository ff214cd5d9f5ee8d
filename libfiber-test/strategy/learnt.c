/* SPDX-License-Identifier: MIT */
/*
 * learnt.c - what the first schedule of a test tells about the others
 *
 * Of each fiber: its steps, and with them those of the fibers that it spawns. A step is what a fiber
 * runs from one choice to the next, so a schedule has no more choices than all fibers have steps. The
 * number of choices alone is no limit: where other fibers end early, a fiber that is alone has none.
 *
 * That schedule may run in a process of its own, so what it leaves is in memory that its parent
 * shares.
 */
#include <stddef.h>
#include <sys/mman.h>

#include "base/check.h"
#include "strategy/strategy.h"

#define FIBERS 65536u /* of later ones nothing is learnt */

struct learnt {
	uint32_t highest; /* number */
	unsigned total;	  /* steps of all fibers */
	unsigned faults;  /* ways to fail */
	struct {
		uint32_t parent;  /* 0: none */
		unsigned steps;	  /* its own */
		unsigned subtree; /* and those of its children, and of theirs */
	} of[FIBERS];
};

static struct learnt *learnt; /* NULL: nothing is learnt */

void fib_learnt_begin(void)
{
	if (learnt)
		fib_check(munmap(learnt, sizeof *learnt) == 0);
	learnt = mmap(NULL, sizeof *learnt, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	fib_check(learnt != MAP_FAILED);
}

void fib_learnt_step(uint32_t number, uint32_t parent)
{
	if (!learnt || number >= FIBERS)
		return;
	if (number > learnt->highest)
		learnt->highest = number;
	learnt->of[number].steps++;
	learnt->of[number].parent = parent < number ? parent : 0;
}

void fib_learnt_end(void)
{
	uint32_t i;

	/* Children have higher numbers than their parents. */
	for (i = learnt->highest; i; i--) {
		learnt->total += learnt->of[i].steps;
		learnt->of[i].subtree += learnt->of[i].steps;
		if (learnt->of[i].parent)
			learnt->of[learnt->of[i].parent].subtree += learnt->of[i].subtree;
	}
}

unsigned fib_learnt_total(void)
{
	return learnt && learnt->total ? learnt->total : 1;
}

uint32_t fib_learnt_fibers(void)
{
	return learnt ? learnt->highest : 0;
}

unsigned fib_learnt_steps(uint32_t number)
{
	return learnt && number < FIBERS ? learnt->of[number].steps : 0;
}

unsigned fib_learnt_subtree(uint32_t number)
{
	return learnt && number < FIBERS ? learnt->of[number].subtree : 0;
}

uint32_t fib_learnt_parent(uint32_t number)
{
	return learnt && number < FIBERS ? learnt->of[number].parent : 0;
}

void fib_learnt_choices(const struct fib_step *steps, unsigned n)
{
	unsigned i;

	for (i = 0; learnt && i < n; i++)
		if (steps[i].kind == FIB_CHOICE_FAULT)
			learnt->faults += steps[i].n - 1u;
}

unsigned fib_learnt_faults(void)
{
	return learnt ? learnt->faults : 0;
}
