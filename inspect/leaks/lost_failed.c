/* SPDX-License-Identifier: MIT */
/* lost_failed.c - what should be in memory and could not be read */
#include "inspect/leaks/lost_look.h"

#define SAVED 16u /* words */

void ins_lost_look_failed(struct ins_lost_look *look, uint64_t address)
{
	if (look->failures < sizeof look->failed / sizeof look->failed[0])
		look->failed[look->failures] = address;
	look->failures++;
}

/*
 * gdb's gcore leaves zeros where it stops at a guard that is no mapping of its own. Such guards are below
 * stacks of threads since glibc 2.42, and below most stacks of a crowd of fibers. At a stack pointer there is
 * at least a return address near.
 */
void ins_lost_look_stack(struct ins_lost_look *look, uint64_t sp)
{
	uint64_t words[SAVED];
	size_t i;

	sp &= ~UINT64_C(7);
	if (look->live || !sp || look->source->memory(look->source, sp, words, sizeof words) < 0)
		return;
	for (i = 0; i < SAVED; i++)
		if (words[i])
			return;
	ins_lost_look_failed(look, sp);
}
