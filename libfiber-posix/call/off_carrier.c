/* SPDX-License-Identifier: MIT */
/* off_carrier.c - make a call that can only block on another thread */
#include "call/off_carrier.h"

#include <errno.h>

#include <fiber/fiber.h>
#include <fiber/io.h>
#include <fiber/time.h>

int fpx_off_carrier(void *(*fn)(void *), void *arg)
{
	int rc;

	fiber_cancel_mask();
	rc = fiber_block(fn, arg, NULL, FIBER_FOREVER);
	fiber_cancel_unmask();
	return rc;
}

int fpx_for_disk(void *(*fn)(void *), void *arg)
{
	const int rc = fpx_off_carrier(fn, arg);

	if (rc != -EAGAIN && rc != -ENOMEM)
		return rc;
	fn(arg);
	return 0;
}
