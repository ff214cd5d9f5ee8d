/* SPDX-License-Identifier: MIT */
/* lot.h - waits in libfiber's lot, as the calls of this library make them */
#ifndef FPX_THREADS_LOT_H
#define FPX_THREADS_LOT_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/lot.h"

/* fiber_lot_wait(); blocks the carrier where fiber_posix_blocking() says so. */
int fpx_lot_wait(const struct fiber_lot_wait *wait, int64_t deadline);

/* After a change with a full barrier: whether somebody may wait. */
static inline bool fpx_lot_occupied(void)
{
	return fiber_lot_waiters != 0;
}

#endif
