/* SPDX-License-Identifier: MIT */
/* arch.c - i386: the stack of a new fiber before it first runs */
#include "arch/arch.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "layout/layout.h"

extern const char fib_arch_resume[], fib_arch_entry[], fib_arch_entry_start[], fib_arch_entry_end[];

const char fib_arch_name[] = "i386";
const uint32_t fib_arch_machine = EM_386;
const uint32_t fib_arch_recipe = FIB_RECIPE_CFI;

/* I: before main(): FIB_WORDS_SSE, or 0. */
static uint16_t sse;

__attribute__((constructor)) static void look_at_cpu(void)
{
	unsigned a, b, c, d;

	sse = __get_cpuid(1, &a, &b, &c, &d) && (d & bit_SSE) ? FIB_WORDS_SSE : 0;
}

void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = (uint64_t)(uintptr_t)fib_arch_entry;
	*ret_high = (uint64_t)(uintptr_t)fib_arch_entry_end;
}

/* The values that the switch pops, lowest address first. */
struct first_frame {
	uint32_t edi, esi, ebx, ebp;
	uint32_t pc;
	uint32_t zero[4]; /* above the entry's frame; four keep its call aligned to 16 */
};

int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg)
{
	uintptr_t top = ((uintptr_t)low + size) & ~(uintptr_t)15;
	struct first_frame *frame = (struct first_frame *)top - 1;

	if (size < sizeof *frame + 32)
		return -EINVAL;
	memset(frame, 0, sizeof *frame);
	frame->ebx = (uint32_t)(uintptr_t)fn;
	frame->esi = (uint32_t)(uintptr_t)arg;
	frame->pc = (uint32_t)(uintptr_t)fib_arch_entry_start;

	context->sp = (uint64_t)(uintptr_t)frame;
	context->fp = 0;
	context->pc = (uint64_t)(uintptr_t)fib_arch_resume;
	return 0;
}

void fib_arch_inherit(struct fib_context *context)
{
	__asm__ volatile("fnstcw %0" : "=m"(context->x87cw));
	if (sse)
		__asm__ volatile("stmxcsr %0" : "=m"(context->mxcsr));
	context->words = sse;
}

void fib_arch_share(struct fib_context *context)
{
	context->words |= FIB_WORDS_SHARE;
}
