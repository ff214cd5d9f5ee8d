/* SPDX-License-Identifier: MIT */
/* control.c - i386: the names of the registers, the x87's control word and the control bits of mxcsr */
#include "tests/arch/registers.h"

#include <stddef.h>

#define FLAGS 0x3fu /* of mxcsr: set by computations, not by the program */

const char *const arch_registers[] = {"ebx", "ebp", "esi", "edi", NULL};

/* mxcsr in the low half: denormals are zero, rounding, flush to zero. The x87's word in the high half:
 * rounding, and a lower precision. */
const uint64_t arch_control_tried[] = {0x037f1fc0, 0x037f3f80, 0x037f5f80, 0x037f9f80,
				       0x077f1f80, 0x0b7f1f80, 0x027f1f80, 0};

uint64_t arch_control_get(void)
{
	uint32_t mxcsr;
	uint16_t x87;

	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
	return (mxcsr & ~FLAGS) | (uint32_t)x87 << 16;
}

void arch_control_set(uint64_t bits)
{
	const uint32_t mxcsr = bits & 0xffff;
	const uint16_t x87 = (uint16_t)(bits >> 16);

	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(x87));
}
