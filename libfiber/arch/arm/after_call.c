/* SPDX-License-Identifier: MIT */
/*
 * after_call.c - 32-bit ARM: whether a call instruction ends before an address
 *
 * The lowest bit of an address marks Thumb: a call from Thumb returns to an odd address, one byte above the
 * call's end. The caller does not pass the address, so both ends are tried.
 */
#include "arch/arch.h"

#define HALF(at) ((uint32_t)(at)[0] | (uint32_t)(at)[1] << 8)
#define WORD(at) (HALF(at) | HALF((at) + 2) << 16)

/* In ARM instructions. */
static bool ends_arm(const unsigned char *end)
{
	const uint32_t word = WORD(end - 4);

	return ((word & 0x0f000000) == 0x0b000000 && word < 0xf0000000) || /* bl */
	       (word & 0xfe000000) == 0xfa000000 ||			   /* blx label */
	       ((word & 0x0ffffff0) == 0x012fff30 && word < 0xf0000000);   /* blx register */
}

/* In Thumb instructions. */
static bool ends_thumb(const unsigned char *end)
{
	const uint32_t first = HALF(end - 4), second = HALF(end - 2);

	return ((first & 0xf800) == 0xf000 && (second & 0xd000) == 0xd000) || /* bl */
	       ((first & 0xf800) == 0xf000 && (second & 0xd001) == 0xc000) || /* blx label */
	       (second & 0xff87) == 0x4780;				      /* blx register */
}

bool fib_arch_after_call(const unsigned char before[FIB_ARCH_CALL])
{
	const unsigned char *const end = before + FIB_ARCH_CALL;

	return ends_arm(end) || ends_thumb(end - 1);
}
