/* SPDX-License-Identifier: MIT */
/* control.c - 64-bit RISC-V: the names of the registers, and the rounding mode */
#include "tests/arch/registers.h"

#include <stddef.h>

const char *const arch_registers[] = {
	"s0",  "s1",  "s2",  "s3",  "s4",  "s5",  "s6",	 "s7",	"s8",  "s9",   "s10",  "s11", "fs0",
	"fs1", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", NULL};

/* Toward zero, downward, upward, to the nearest with ties away from zero. */
const uint64_t arch_control_tried[] = {1, 2, 3, 4, 0};

uint64_t arch_control_get(void)
{
	uint64_t word;

	__asm__ volatile("frrm %0" : "=r"(word));
	return word;
}

void arch_control_set(uint64_t word)
{
	__asm__ volatile("fsrm %0" : : "r"(word));
}
