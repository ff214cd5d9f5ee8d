/* SPDX-License-Identifier: MIT */
/*
 * call_target.c - find the function that a call instruction calls
 *
 * A function that ended in a jump to another one is not on the stack. The call instruction before
 * the return address still says which function was called. Only x86-64 code is decoded.
 */
#include "inspect/unwind/call_target.h"

#include <elf.h>
#include <string.h>

#include "inspect/elf/image.h"
#include "inspect/elf/plt.h"

#define CALL_SIZE 6 /* of the longest call that is decoded */

/* `at` plus the displacement that is there in the code. */
static uint64_t displaced(uint64_t at, const unsigned char *code)
{
	int32_t distance;

	memcpy(&distance, code, sizeof distance);
	return at + (uint64_t)(int64_t)distance;
}

static bool code_before(struct ins_source *source, uint64_t back, unsigned char code[CALL_SIZE])
{
	return source->modules->machine.number == EM_X86_64 &&
	       ins_source_memory(source, NULL, back - CALL_SIZE, code, CALL_SIZE) == 0;
}

uint64_t ins_call_target(struct ins_source *source, uint64_t back)
{
	unsigned char code[CALL_SIZE];

	if (!code_before(source, back, code) || code[1] != 0xe8)
		return 0;
	return displaced(back, code + 2);
}

static uint64_t word_at(struct ins_source *source, uint64_t address)
{
	uint64_t word;

	return source->memory && source->memory(source, address, &word, sizeof word) == 0 ? word
											  : 0;
}

uint64_t ins_call_target_function(struct ins_source *source, uint64_t back)
{
	const uint64_t target = ins_call_target(source, back);
	unsigned char code[16];
	size_t at;

	/* call *displacement(%rip) */
	if (!target)
		return code_before(source, back, code) && code[0] == 0xff && code[1] == 0x15
			       ? word_at(source, displaced(back, code + 2))
			       : 0;
	if (ins_source_memory(source, NULL, target, code, sizeof code) == 0 &&
	    ins_plt_jumps(code, sizeof code, &at))
		return word_at(source, displaced(target + at + 4, code + at));
	return target;
}
