/* SPDX-License-Identifier: MIT */
/* guard.h - how far below its stack the stack pointer of an overflowed fiber may be */
#ifndef INS_GUARD_H
#define INS_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/row.h"

/*
 * The size of the guard below the stack in bytes: what the record says, else 16 KiB. The guard
 * never extends below address 0.
 */
uint64_t ins_guard_bytes(const struct fib_layout *layout, const void *record, uint64_t stack_low);

/* Whether sp is on the row's stack, or in the guard below it. */
bool ins_guard_reaches(const struct fib_layout *layout, const void *record,
		       const struct fib_row *row, uint64_t sp);

#endif
