/* SPDX-License-Identifier: MIT */
/* control.c - x86-64: the names of the registers, and the control bits of mxcsr */
#include "tests/arch/registers.h"

#include <stddef.h>

#define FLAGS 0x3fu /* set by computations, not by the program */

const char *const arch_registers[] = {"rbx", "rbp", "r12", "r13", "r14", "r15", NULL};

/* All exceptions masked, and: denormals are zero, rounding, flush to zero. */
const uint64_t arch_control_tried[] = {0x1fc0, 0x3f80, 0x5f80, 0x9f80, 0};

uint64_t arch_control_get(void)
{
	uint32_t word;

	__asm__ volatile("stmxcsr %0" : "=m"(word));
	return word & ~FLAGS;
}

void arch_control_set(uint64_t word)
{
	const uint32_t mxcsr = (uint32_t)word;

	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
}
