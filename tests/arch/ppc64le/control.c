/* SPDX-License-Identifier: MIT */
/* control.c - 64-bit PowerPC: the names of the registers, and the control bits of FPSCR */
#include "tests/arch/registers.h"

#include <stddef.h>

#define CONTROL 0xffu /* the rest is set by computations */

const char *const arch_registers[] = {
	"r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26",
	"r27", "r28", "r29", "r30", "r31", "f14", "f15", "f16", "f17", "f18", "f19", "f20", "f21",
	"f22", "f23", "f24", "f25", "f26", "f27", "f28", "f29", "f30", "f31", "cr",  "v20", "v20",
	"v21", "v21", "v22", "v22", "v23", "v23", "v24", "v24", "v25", "v25", "v26", "v26", "v27",
	"v27", "v28", "v28", "v29", "v29", "v30", "v30", "v31", "v31", NULL};

/* Rounding toward zero, upward and downward, non-IEEE mode, and traps: inexact, division by zero. */
const uint64_t arch_control_tried[] = {1, 2, 3, 4, 8, 16, 0};

union word {
	double value;
	uint64_t bits;
};

uint64_t arch_control_get(void)
{
	union word word;

	__asm__ volatile("mffs %0" : "=d"(word.value));
	return word.bits & CONTROL;
}

void arch_control_set(uint64_t bits)
{
	const union word word = {.bits = bits};

	__asm__ volatile("mtfsf 3, %0" : : "d"(word.value));
}
