/* SPDX-License-Identifier: MIT */
/* control.c - aarch64: the names of the registers, and FPCR */
#include "tests/arch/registers.h"

#include <stddef.h>

const char *const arch_registers[] = {"x19", "x20", "x21", "x22", "x23", "x24", "x25",
				      "x26", "x27", "x28", "x29", "d8",	 "d9",	"d10",
				      "d11", "d12", "d13", "d14", "d15", NULL};

/* Rounding upward and downward, flush to zero, default NaN, alternative half precision. */
const uint64_t arch_control_tried[] = {1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 0};

uint64_t arch_control_get(void)
{
	uint64_t word;

	__asm__ volatile("mrs %0, fpcr" : "=r"(word));
	return word;
}

void arch_control_set(uint64_t word)
{
	__asm__ volatile("msr fpcr, %0" : : "r"(word));
}
