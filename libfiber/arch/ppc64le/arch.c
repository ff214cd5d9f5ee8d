/* SPDX-License-Identifier: MIT */
/* arch.c - 64-bit PowerPC: the stack of a new fiber before it first runs */
#include "arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "layout/layout.h"

extern const char fib_arch_resume[], fib_arch_entry[], fib_arch_entry_start[], fib_arch_entry_end[];

const char fib_arch_name[] = "ppc64le";
const uint32_t fib_arch_machine = EM_PPC64;
const uint32_t fib_arch_recipe = FIB_RECIPE_CFI;

void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = (uint64_t)(uintptr_t)fib_arch_entry;
	*ret_high = (uint64_t)(uintptr_t)fib_arch_entry_end;
}

/* The values that the switch loads, lowest address first. */
struct first_frame {
	uint64_t back; /* the entry's frame */
	uint64_t cr;
	uint64_t for_callee;
	uint64_t toc; /* the function computes its own */
	uint64_t r14, r15, r16_to_r31[16];
	uint64_t f14_to_f31[18];
	uint64_t v20_to_v31[12][2];
	/* the entry's frame */
	uint64_t end; /* 0: there is no other frame */
	uint64_t zero;
	uint64_t pc;
	uint64_t zero_again;
};

_Static_assert(__builtin_offsetof(struct first_frame, r14) == FIB_FRAME_R14, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, f14_to_f31) == FIB_FRAME_F14, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, v20_to_v31) == FIB_FRAME_V20, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, end) == FIB_FRAME_SAVED, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, pc) == FIB_FRAME_LR, "frame.h");

int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg)
{
	uintptr_t top = ((uintptr_t)low + size) & ~(uintptr_t)15;
	struct first_frame *frame = (struct first_frame *)top - 1;

	if (size < sizeof *frame + 16)
		return -EINVAL;
	memset(frame, 0, sizeof *frame);
	frame->back = (uint64_t)(uintptr_t)&frame->end;
	frame->r14 = (uint64_t)(uintptr_t)fn;
	frame->r15 = (uint64_t)(uintptr_t)arg;
	frame->pc = (uint64_t)(uintptr_t)fib_arch_entry_start;

	context->sp = (uint64_t)(uintptr_t)frame;
	context->fp = 0;
	context->pc = (uint64_t)(uintptr_t)fib_arch_resume;
	return 0;
}

void fib_arch_inherit(struct fib_context *context)
{
	union {
		double value;
		uint32_t half[2];
	} fpscr;

	__asm__ volatile("mffs %0" : "=d"(fpscr.value));
	context->fpscr = fpscr.half[0];
	context->words = 0;
}

void fib_arch_share(struct fib_context *context)
{
	context->words = FIB_WORDS_SHARE;
}
