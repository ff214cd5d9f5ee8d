/* SPDX-License-Identifier: MIT */
/* arch.c - x86-64: the stack of a new fiber before it first runs */
#include "arch/arch.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "layout/layout.h"

extern const char fib_arch_resume[], fib_arch_entry[], fib_arch_entry_start[], fib_arch_entry_end[];

const char fib_arch_name[] = "x86_64";
const uint32_t fib_arch_machine = EM_X86_64;
const uint32_t fib_arch_recipe = FIB_RECIPE_CFI;

/* I: before main(): what the switch from a context does that has control words of its own. */
extern uint16_t fib_arch_words;
uint16_t fib_arch_words = FIB_WORDS_COMPARE;

/* AMD's Zen 3 and later (family 19h and up) load mxcsr in the same time whatever its old value: 5.0
 * ns for a switch that loads it, 6.3 ns for one that reads the stored value back to compare it. */
__attribute__((constructor)) static void look_at_cpu(void)
{
	unsigned most, a, b, c, d, family;

	if (!__get_cpuid(0, &most, &b, &c, &d) || b != signature_AMD_ebx ||
	    !__get_cpuid(1, &a, &b, &c, &d))
		return;
	family = a >> 8 & 15;
	if (family == 15)
		family += a >> 20 & 255;
	if (family >= 0x19)
		fib_arch_words = FIB_WORDS_LOAD;
}

void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = (uint64_t)(uintptr_t)fib_arch_entry;
	*ret_high = (uint64_t)(uintptr_t)fib_arch_entry_end;
}

/* The values that the switch pops, lowest address first. */
struct first_frame {
	uint64_t r15, r14, r13, r12, rbx, rbp;
	uint64_t pc;
	uint64_t zero[2]; /* above the entry's frame; two keep its call aligned to 16 */
};

int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg)
{
	uintptr_t top = ((uintptr_t)low + size) & ~(uintptr_t)15;
	struct first_frame *frame = (struct first_frame *)top - 1;

	if (size < sizeof *frame + 16)
		return -EINVAL;
	memset(frame, 0, sizeof *frame);
	frame->rbx = (uint64_t)(uintptr_t)fn;
	frame->r12 = (uint64_t)(uintptr_t)arg;
	frame->pc = (uint64_t)(uintptr_t)fib_arch_entry_start;

	context->sp = (uint64_t)(uintptr_t)frame;
	context->fp = 0;
	context->pc = (uint64_t)(uintptr_t)fib_arch_resume;
	return 0;
}

void fib_arch_inherit(struct fib_context *context)
{
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(context->mxcsr), "=m"(context->x87cw));
	context->words = fib_arch_words;
}

void fib_arch_share(struct fib_context *context)
{
	context->words = FIB_WORDS_SHARE;
}
