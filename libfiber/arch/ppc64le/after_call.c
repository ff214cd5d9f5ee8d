/* SPDX-License-Identifier: MIT */
/* after_call.c - 64-bit PowerPC: whether a call instruction ends before an address */
#include "arch/arch.h"

#include <string.h>

#define LINK	    1u /* the bit that makes a branch a call */
#define BRANCH	    18u
#define CONDITION   16u
#define REGISTER    19u
#define TO_LR	    16u
#define TO_CTR	    528u
#define TO_TAR	    560u
#define OPCODE(w)   ((w) >> 26)
#define EXTENDED(w) ((w) >> 1 & 1023)

bool fib_arch_after_call(const unsigned char before[FIB_ARCH_CALL])
{
	uint32_t word;

	memcpy(&word, before + FIB_ARCH_CALL - sizeof word, sizeof word);
	if (!(word & LINK))
		return false;
	return OPCODE(word) == BRANCH || OPCODE(word) == CONDITION ||
	       (OPCODE(word) == REGISTER &&
		(EXTENDED(word) == TO_LR || EXTENDED(word) == TO_CTR || EXTENDED(word) == TO_TAR));
}
