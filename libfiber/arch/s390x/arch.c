/* SPDX-License-Identifier: MIT */
/* arch.c - s390x: the stack of a new fiber before it first runs */
#include "arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "layout/layout.h"

extern const char fib_arch_resume[], fib_arch_entry[], fib_arch_entry_start[], fib_arch_entry_end[];

const char fib_arch_name[] = "s390x";
const uint32_t fib_arch_machine = EM_S390;
const uint32_t fib_arch_recipe = FIB_RECIPE_CFI;

void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = (uint64_t)(uintptr_t)fib_arch_entry;
	*ret_high = (uint64_t)(uintptr_t)fib_arch_entry_end;
}

/* The entry's frame, where a switch and the entry's function save registers. */
struct entry_frame {
	uint64_t back; /* 0: there is no other frame */
	uint64_t unused[5];
	uint64_t r6, r7, r8_to_r13[6], r14, r15;
	uint64_t rest[4];
};

/* The values that the switch loads, lowest address first. */
struct first_frame {
	uint64_t for_callees[20];
	uint64_t f8_to_f15[8];
	struct entry_frame entry;
};

_Static_assert(sizeof(struct entry_frame) == FIB_FRAME_AREA, "frame.h");
_Static_assert(__builtin_offsetof(struct entry_frame, r6) == FIB_FRAME_R6, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, f8_to_f15) == FIB_FRAME_F8, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, entry) == FIB_FRAME_SAVED, "frame.h");

int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg)
{
	uintptr_t top = ((uintptr_t)low + size) & ~(uintptr_t)15;
	struct first_frame *frame = (struct first_frame *)top - 1;

	if (size < sizeof *frame + 16)
		return -EINVAL;
	memset(frame, 0, sizeof *frame);
	frame->entry.r6 = (uint64_t)(uintptr_t)fn;
	frame->entry.r7 = (uint64_t)(uintptr_t)arg;
	frame->entry.r14 = (uint64_t)(uintptr_t)fib_arch_entry_start;
	frame->entry.r15 = (uint64_t)(uintptr_t)&frame->entry;

	context->sp = (uint64_t)(uintptr_t)frame;
	context->fp = 0;
	context->pc = (uint64_t)(uintptr_t)fib_arch_resume;
	return 0;
}

void fib_arch_inherit(struct fib_context *context)
{
	__asm__ volatile("stfpc %0" : "=Q"(context->fpc));
	context->words = 0;
}

void fib_arch_share(struct fib_context *context)
{
	context->words = FIB_WORDS_SHARE;
}
