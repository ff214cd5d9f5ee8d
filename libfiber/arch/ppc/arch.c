/* SPDX-License-Identifier: MIT */
/* arch.c - 32-bit PowerPC: the stack of a new fiber before it first runs */
#include "arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "layout/layout.h"

#define HWCAP_ALTIVEC 0x10000000ul

extern const char fib_arch_resume[], fib_arch_entry[], fib_arch_entry_start[], fib_arch_entry_end[];

const char fib_arch_name[] = "ppc";
const uint32_t fib_arch_machine = EM_PPC;
const uint32_t fib_arch_recipe = FIB_RECIPE_CFI;

/* I: before main(): FIB_WORDS_VECTORS, or 0. */
static uint32_t vectors;

__attribute__((constructor)) static void look_at_cpu(void)
{
	vectors = getauxval(AT_HWCAP) & HWCAP_ALTIVEC ? FIB_WORDS_VECTORS : 0;
}

void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = (uint64_t)(uintptr_t)fib_arch_entry;
	*ret_high = (uint64_t)(uintptr_t)fib_arch_entry_end;
}

/* The values that the switch loads, lowest address first. */
struct first_frame {
	uint32_t back; /* the entry's frame */
	uint32_t for_callee;
	uint32_t cr, vrsave;
	uint32_t r14, r15, r16_to_r31[16];
	uint64_t f14_to_f31[18];
	uint64_t unused;
	uint64_t v20_to_v31[12][2];
	/* the entry's frame */
	uint32_t end; /* 0: there is no other frame */
	uint32_t pc;
	uint32_t zero[2];
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
	frame->back = (uint32_t)(uintptr_t)&frame->end;
	frame->r14 = (uint32_t)(uintptr_t)fn;
	frame->r15 = (uint32_t)(uintptr_t)arg;
	frame->pc = (uint32_t)(uintptr_t)fib_arch_entry_start;

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
	context->fpscr = fpscr.half[1];
	context->words = vectors;
}

void fib_arch_share(struct fib_context *context)
{
	context->words |= FIB_WORDS_SHARE;
}
