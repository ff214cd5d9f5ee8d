/* SPDX-License-Identifier: MIT */
/* lost_failed.c - what should be in memory and could not be read */
#include "inspect/leaks/lost_look.h"

#define PAGE 4096u

void ins_lost_look_failed(struct ins_lost_look *look, uint64_t address)
{
	if (look->failures < sizeof look->failed / sizeof look->failed[0])
		look->failed[look->failures] = address;
	look->failures++;
}

/* Whether memory that a core says it has is zero. False: not, or it cannot be read. */
static bool is_zero(const struct ins_lost_look *look, uint64_t address, size_t size)
{
	uint64_t words[PAGE / sizeof(uint64_t)];
	size_t i;

	if (look->source->memory(look->source, address, words, size) < 0)
		return false;
	for (i = 0; i < size / sizeof words[0]; i++)
		if (words[i])
			return false;
	return true;
}

/*
 * gdb's gcore leaves zeros where it stops at a guard that is no mapping of its own. Such guards are below
 * stacks of threads since glibc 2.42, and below most stacks of a crowd of fibers. All of the area that
 * follows is zero then. A large buffer at the stack pointer may be zero too, so look at the rest of the
 * page, and at the next page of the area.
 */
void ins_lost_look_stack(struct ins_lost_look *look, uint64_t sp)
{
	const uint64_t next = (sp | (PAGE - 1)) + 1;
	const struct ins_region *region;

	sp &= ~UINT64_C(7);
	if (look->live || !sp || !next || !is_zero(look, sp, next - sp))
		return;
	region = ins_lost_look_region(look, sp);
	if (region && region->end > next && region->end - next >= PAGE &&
	    !is_zero(look, next, PAGE))
		return;
	look->missing++;
	ins_lost_look_failed(look, sp);
}
