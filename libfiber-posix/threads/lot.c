/* SPDX-License-Identifier: MIT */
/* lot.c - waits in libfiber's lot, as the calls of this library make them */
#include "threads/lot.h"

#include <fiber/fiber.h>

#include "call/park.h"

int fpx_lot_wait(const struct fiber_lot_wait *wait, int64_t deadline)
{
	const bool blocks = fiber_self() && !fpx_parks();
	int rc;

	if (blocks)
		fiber_pin();
	rc = fiber_lot_wait(wait, deadline);
	if (blocks)
		fiber_unpin();
	return rc;
}
