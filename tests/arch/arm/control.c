/* SPDX-License-Identifier: MIT */
/* control.c - 32-bit ARM: the names of the registers, and the control bits of FPSCR */
#include "tests/arch/registers.h"

#include <stddef.h>

#define CONTROL 0x07f79f00u /* the rest is set by computations */

const char *const arch_registers[] = {"r4", "r5",  "r6",  "r7",	 "r8",	"r9",  "r10", "r11", "d8",
				      "d9", "d10", "d11", "d12", "d13", "d14", "d15", NULL};

/* Rounding upward and downward, flush to zero, default NaN, alternative half precision. */
const uint64_t arch_control_tried[] = {1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 0};

uint64_t arch_control_get(void)
{
	uint32_t word;

	__asm__ volatile("vmrs %0, fpscr" : "=r"(word));
	return word & CONTROL;
}

void arch_control_set(uint64_t bits)
{
	const uint32_t word = (uint32_t)bits;

	__asm__ volatile("vmsr fpscr, %0" : : "r"(word));
}
