/* SPDX-License-Identifier: MIT */
/* after_call.c - aarch64: whether a call instruction ends before an address */
#include "arch/arch.h"

#define DIRECT	      0x94000000u /* bl label */
#define DIRECT_MASK   0xfc000000u
#define INDIRECT      0xd63f0000u /* blr xN; also the forms that authenticate the address */
#define INDIRECT_MASK 0xfefff000u

bool fib_arch_after_call(const unsigned char before[FIB_ARCH_CALL])
{
	const unsigned char *const at = before + FIB_ARCH_CALL - 4;
	/* Instructions are little-endian, whatever data is. */
	const uint32_t word =
		at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;

	return (word & DIRECT_MASK) == DIRECT || (word & INDIRECT_MASK) == INDIRECT;
}
