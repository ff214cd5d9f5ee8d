/* SPDX-License-Identifier: MIT */
/*
 * core_handler.c - a handler on a stack of its own, and whom it interrupted
 *
 * A program that reports its crashes does so in a handler, and ends there: by abort(), or by the signal's coming back. Its faults
 * are handled on a stack apart, since the one at hand may be full (sigaltstack(2)), and then no thread stands on the stack of the fiber that
 * failed. What leads back to it is the frame that the kernel has laid before the handler's: the registers that it will
 * load when that returns.
 *
 * The frame is found by what it says of itself: beside the registers stands which stack is the handler's, and the frame, and the
 * stack pointer of today, are in it. Nothing that a program has on its stack looks so by chance.
 */
#include "inspect/corefile/core_handler.h"

#include <elf.h>
#include <stdlib.h>

#include "inspect/corefile/core_memory.h"
#include "inspect/elf/image.h"

#define LOOK_MAX  (256u << 10) /* from the stack pointer up */
#define OWN_MAX	  (UINT64_C(1) << 30)
#define WORD	  sizeof(uint64_t)
#define LINK	  1 /* words of a struct ucontext, the same everywhere: uc_link, and two of uc_stack */
#define STACK_LOW 2
#define STACK_LEN 4

/* And the one with the stack pointer. */
static const struct {
	unsigned machine, sp;
} machines[] = {
	{EM_X86_64, 20},
	{EM_AARCH64, 54},
	{EM_RISCV, 24},
};

static unsigned word_of_sp(void)
{
	size_t i;

	for (i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].machine == ins_machine_self())
			return machines[i].sp;
	return 0;
}

uint64_t ins_core_handler_from(const struct ins_core *core, uint64_t sp, uint64_t *left,
			       uint64_t *ret_end)
{
	const uint64_t begin = (sp + WORD - 1) & ~(uint64_t)(WORD - 1);
	const uint64_t most = *left < LOOK_MAX ? *left : LOOK_MAX;
	const unsigned saved = word_of_sp();
	uint64_t *word = saved ? malloc(LOOK_MAX) : NULL;
	uint64_t from = sp;
	size_t count, i;

	*ret_end = 0;
	if (!word)
		return sp;
	count = ins_core_read_some(core, begin, word, most) / WORD;
	*left -= count * WORD;
	for (i = 0; i + saved < count; i++) {
		const uint64_t *context = word + i;
		const uint64_t low = context[STACK_LOW], size = context[STACK_LEN];

		if (context[LINK] || low > sp || size > OWN_MAX || begin + i * WORD - low >= size)
			continue;
		/* Of a handler that interrupted a handler: the frame of that one is farther up. */
		if (context[saved] - low < size)
			continue;
		from = context[saved];
		*ret_end = low + size;
		break;
	}
	free(word);
	return from;
}
