/* SPDX-License-Identifier: MIT */
/*
 * after_call.c - 64-bit RISC-V: whether a call instruction ends before an address
 *
 * A call is a jump that links to ra. The second half of an instruction of 4 bytes may look like one of
 * 2 bytes, so an address that follows no call may be taken for one.
 */
#include "arch/arch.h"

#define RA	      (1u << 7) /* in the field of the register that gets the return address */
#define LINK_MASK     0xfffu
#define DIRECT	      (0x6fu | RA) /* jal ra, label */
#define INDIRECT      (0x67u | RA) /* jalr ra, offset(reg) */
#define INDIRECT_MASK 0x7fffu
#define SHORT	      0x9002u /* c.jalr reg, where reg is not x0 */
#define SHORT_MASK    0xf07fu
#define SHORT_REG     0x0f80u

bool fib_arch_after_call(const unsigned char before[FIB_ARCH_CALL])
{
	const unsigned char *const end = before + FIB_ARCH_CALL;
	const uint32_t half = end[-2] | (uint32_t)end[-1] << 8;
	const uint32_t word = end[-4] | (uint32_t)end[-3] << 8 | half << 16;

	return (word & LINK_MASK) == DIRECT || (word & INDIRECT_MASK) == INDIRECT ||
	       ((half & SHORT_MASK) == SHORT && (half & SHORT_REG));
}
