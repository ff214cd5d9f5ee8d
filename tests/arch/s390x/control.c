/* SPDX-License-Identifier: MIT */
/* control.c - s390x: the names of the registers, and the control bits of FPC */
#include "tests/arch/registers.h"

#include <stddef.h>

#define CONTROL 0xf8000073u /* the rest is set by computations, or reserved in older machines */

const char *const arch_registers[] = {"r6", "r7",  "r8",  "r9",	 "r10", "r11", "r12", "r13", "f8",
				      "f9", "f10", "f11", "f12", "f13", "f14", "f15", NULL};

/* Rounding toward zero, upward and downward; decimal rounding; traps of inexact and invalid operations. */
const uint64_t arch_control_tried[] = {1, 2, 3, 0x10, 0x40, 0x08000000, 0x80000000, 0};

uint64_t arch_control_get(void)
{
	uint32_t word;

	__asm__ volatile("stfpc %0" : "=Q"(word));
	return word & CONTROL;
}

void arch_control_set(uint64_t bits)
{
	const uint32_t word = (uint32_t)bits;

	__asm__ volatile("lfpc %0" : : "Q"(word));
}
