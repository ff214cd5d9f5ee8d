/* SPDX-License-Identifier: MIT */
/* guard.c - how far below its stack the stack pointer of an overflowed fiber may be */
#include "inspect/source/guard.h"

#include <string.h>

#define UNSAID (16u << 10)
#define UNIT   4096u

uint64_t ins_guard_bytes(const struct fib_layout *layout, const void *record, uint64_t stack_low)
{
	uint64_t guard = UNSAID;
	uint16_t units = 0;

	if (fib_layout_has(layout, FIB_FIELD_GUARD, sizeof units))
		memcpy(&units,
		       (const unsigned char *)record + layout->fields[FIB_FIELD_GUARD].offset,
		       sizeof units);
	if (units)
		guard = (uint64_t)units * UNIT;
	return guard < stack_low ? guard : stack_low;
}

bool ins_guard_reaches(const struct fib_layout *layout, const void *record,
		       const struct fib_row *row, uint64_t sp)
{
	const uint64_t guard = ins_guard_bytes(layout, record, row->stack_low);

	return sp - (row->stack_low - guard) < row->stack_size + guard;
}
