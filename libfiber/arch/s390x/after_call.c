/* SPDX-License-Identifier: MIT */
/* after_call.c - s390x: whether a call instruction ends before an address */
#include "arch/arch.h"

#define BASR	     0x0d /* 2 bytes */
#define BRAS	     0xa7 /* 4 bytes; with 5 in the low bits of the next one */
#define BRASL	     0xc0 /* 6 bytes; the same */
#define FORM_CALL    0x05
#define TARGET(byte) ((byte)&0x0f) /* 0: basr does not branch */

bool fib_arch_after_call(const unsigned char before[FIB_ARCH_CALL])
{
	const unsigned char *const end = before + FIB_ARCH_CALL;

	return (end[-6] == BRASL && (end[-5] & 0x0f) == FORM_CALL) ||
	       (end[-4] == BRAS && (end[-3] & 0x0f) == FORM_CALL) ||
	       (end[-2] == BASR && TARGET(end[-1]) != 0);
}
