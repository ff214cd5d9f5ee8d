/* SPDX-License-Identifier: MIT */
/* arch.c - 64-bit RISC-V: the stack of a new fiber before it first runs */
#include "arch/arch.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "layout/layout.h"

extern const char fib_arch_resume[], fib_arch_entry[], fib_arch_entry_start[], fib_arch_entry_end[];

const char fib_arch_name[] = "riscv64";
const uint32_t fib_arch_machine = EM_RISCV;
const uint32_t fib_arch_recipe = FIB_RECIPE_CFI;

void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = (uint64_t)(uintptr_t)fib_arch_entry;
	*ret_high = (uint64_t)(uintptr_t)fib_arch_entry_end;
}

/* The values that the switch loads, lowest address first. */
struct first_frame {
	uint64_t ra;
	uint64_t s0, s1, s2, s3_to_s11[9];
	uint64_t fs0_to_fs11[12];
	uint64_t unused;
	uint64_t zero[2]; /* above the entry's frame */
};

_Static_assert(__builtin_offsetof(struct first_frame, s0) == FIB_FRAME_S0, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, fs0_to_fs11) == FIB_FRAME_FS0, "frame.h");
_Static_assert(__builtin_offsetof(struct first_frame, zero) == FIB_FRAME_SAVED, "frame.h");

int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg)
{
	uintptr_t top = ((uintptr_t)low + size) & ~(uintptr_t)15;
	struct first_frame *frame = (struct first_frame *)top - 1;

	if (size < sizeof *frame + 16)
		return -EINVAL;
	memset(frame, 0, sizeof *frame);
	frame->s1 = (uint64_t)(uintptr_t)fn;
	frame->s2 = (uint64_t)(uintptr_t)arg;
	frame->ra = (uint64_t)(uintptr_t)fib_arch_entry_start;

	context->sp = (uint64_t)(uintptr_t)frame;
	context->fp = 0;
	context->pc = (uint64_t)(uintptr_t)fib_arch_resume;
	return 0;
}

void fib_arch_inherit(struct fib_context *context)
{
	uint64_t frm;

	__asm__ volatile("frrm %0" : "=r"(frm));
	context->frm = (uint32_t)frm;
}

void fib_arch_share(struct fib_context *context)
{
	(void)context; /* to read frm costs no more than to ask whether it is shared */
}
