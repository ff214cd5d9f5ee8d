/* SPDX-License-Identifier: MIT */
/*
 * registers.h - the registers that a switch must keep, one by one
 *
 * A compiler decides itself which values are in registers, so a test in C cannot know whether each one
 * was tried. A folder beside this file, with the name of a port, has the routine in assembly that loads
 * them all. A port without such a folder has no such test.
 */
#ifndef ARCH_REGISTERS_H
#define ARCH_REGISTERS_H

#include <stdint.h>

#include "arch/arch.h"

#define ARCH_REGISTERS_MOST 64u

/* The names of the registers, in the order of the values; NULL ends them. Registers of 4 bytes have
 * the low half of a value. */
extern const char *const arch_registers[];

/*
 * Load each register from in, call fib_arch_switch(from, to, left), and store each register in out.
 * The caller's own registers are kept.
 */
void arch_registers_across(const uint64_t *in, uint64_t *out, struct fib_context *from,
			   struct fib_context *to, _Atomic uint64_t *left);

/* The FPU's control word: the values that the test tries, of which 0 is the end, and access. Each value
 * differs from the word that a program starts with. */
extern const uint64_t arch_control_tried[];
uint64_t arch_control_get(void);
void arch_control_set(uint64_t word);

#endif
