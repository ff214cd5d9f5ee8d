/* SPDX-License-Identifier: MIT */
/* after_call.c - i386: whether a call instruction ends before an address */
#include "arch/arch.h"

#define DIRECT	 0xe8 /* call rel32 */
#define INDIRECT 0xff /* with 2 in the middle bits of the next byte: call r/m64 */

bool fib_arch_after_call(const unsigned char before[FIB_ARCH_CALL])
{
	static const unsigned char lengths[] = {2, 3, 4, 6, 7};
	const unsigned char *const end = before + FIB_ARCH_CALL;
	unsigned i;

	if (end[-5] == DIRECT)
		return true;
	for (i = 0; i < sizeof lengths; i++)
		if (end[-(int)lengths[i]] == INDIRECT && (end[1 - (int)lengths[i]] & 0x38) == 0x10)
			return true;
	return false;
}
