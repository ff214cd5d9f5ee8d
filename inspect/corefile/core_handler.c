/* SPDX-License-Identifier: MIT */
/*
 * core_handler.c - find the stack pointer that a handler on an alternate stack interrupted
 *
 * A program that reports its own crashes does so in a signal handler and ends there, by abort() or
 * by raising the signal again. Such a handler runs on an alternate stack, since the current one may
 * be full (sigaltstack(2)). Then no thread's stack pointer is on the stack of the fiber that
 * failed. The way back is the signal frame that the kernel wrote before the handler's frame: it
 * holds the registers that sigreturn would load.
 *
 * The frame is found by its contents. Its uc_stack describes the handler's stack, and both the
 * frame and the current stack pointer are within that stack. Other data on a stack does not have
 * this form by chance.
 */
#include "inspect/corefile/core_handler.h"

#include <elf.h>
#include <stdlib.h>

#include "inspect/corefile/core_memory.h"
#include "inspect/elf/image.h"

#define LOOK_MAX (256u << 10) /* bytes searched from the stack pointer up */
#define OWN_MAX	 (UINT64_C(1) << 30)
#define WORD	 sizeof(uint64_t)
/* Indices of words in struct ucontext, the same for every ISA: uc_link, and two of uc_stack. */
#define LINK	  1
#define STACK_LOW 2
#define STACK_LEN 4

/* The index of the word with the stack pointer. */
static const struct {
	unsigned machine, sp;
} machines[] = {
	{EM_X86_64, 20},
	{EM_AARCH64, 54},
	{EM_RISCV, 24},
	{EM_S390, 22},
};

static unsigned word_of_sp(unsigned machine)
{
	size_t i;

	for (i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].machine == machine)
			return machines[i].sp;
	return 0;
}

uint64_t ins_core_handler_from(const struct ins_core *core, uint64_t sp, uint64_t *left,
			       uint64_t *ret_end)
{
	const uint64_t begin = (sp + WORD - 1) & ~(uint64_t)(WORD - 1);
	const uint64_t most = *left < LOOK_MAX ? *left : LOOK_MAX;
	const unsigned saved = word_of_sp(core->machine.number);
	uint64_t *word = saved ? malloc(LOOK_MAX) : NULL;
	uint64_t from = sp;
	size_t count, i;

	*ret_end = 0;
	if (!word)
		return sp;
	count = ins_core_read_some(core, begin, word, most) / WORD;
	*left -= count * WORD;
	if (core->machine.swapped)
		ins_swap_all(word, WORD, count);
	for (i = 0; i + saved < count; i++) {
		const uint64_t *context = word + i;
		const uint64_t low = context[STACK_LOW], size = context[STACK_LEN];

		if (context[LINK] || low > sp || size > OWN_MAX || begin + i * WORD - low >= size)
			continue;
		/* This handler interrupted another handler, whose frame is farther up. */
		if (context[saved] - low < size)
			continue;
		from = context[saved];
		*ret_end = low + size;
		break;
	}
	free(word);
	return from;
}
