/* SPDX-License-Identifier: MIT */
/* arch.c - aarch64: the stack of a new fiber before it first runs */
#include "arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "layout/layout.h"

extern const char fib_arch_resume[], fib_arch_entry[], fib_arch_entry_start[], fib_arch_entry_end[];

const char fib_arch_name[] = "aarch64";
const uint32_t fib_arch_machine = EM_AARCH64;
const uint32_t fib_arch_recipe = FIB_RECIPE_CFI;

void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = (uint64_t)(uintptr_t)fib_arch_entry;
	*ret_high = (uint64_t)(uintptr_t)fib_arch_entry_end;
}

/* The values that the switch loads, lowest address first. */
struct first_frame {
	uint64_t d8_to_d15[8];
	uint64_t x29, x30;
	uint64_t x19, x20, x21_to_x28[8];
	uint64_t zero[2]; /* above the entry's frame */
};

_Static_assert(__builtin_offsetof(struct first_frame, x29) == FIB_FRAME_X29, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, x19) == FIB_FRAME_X19, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, zero) == FIB_FRAME_SAVED, "frame.h");

int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg)
{
	uintptr_t top = ((uintptr_t)low + size) & ~(uintptr_t)15;
	struct first_frame *frame = (struct first_frame *)top - 1;

	if (size < sizeof *frame + 16)
		return -EINVAL;
	memset(frame, 0, sizeof *frame);
	frame->x19 = (uint64_t)(uintptr_t)fn;
	frame->x20 = (uint64_t)(uintptr_t)arg;
	frame->x30 = (uint64_t)(uintptr_t)fib_arch_entry_start;

	context->sp = (uint64_t)(uintptr_t)frame;
	context->fp = 0;
	context->pc = (uint64_t)(uintptr_t)fib_arch_resume;
	return 0;
}

void fib_arch_inherit(struct fib_context *context)
{
	__asm__ volatile("mrs %0, fpcr" : "=r"(context->fpcr));
}

void fib_arch_share(struct fib_context *context)
{
	(void)context; /* to read FPCR costs no more than to ask whether it is shared */
}
