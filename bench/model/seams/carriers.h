/* SPDX-License-Identifier: MIT */
/* carriers.h - a carrier is a CPU of the model */
#ifndef FIB_RUNTIME_CARRIERS_H
#define FIB_RUNTIME_CARRIERS_H

#include <fiber/fiber.h>

#include "sched/sched.h"

static inline unsigned fib_carriers_wanted(unsigned n)
{
	return n;
}

static inline bool fib_may_run_runtime(void)
{
	return !fiber_self();
}

int fib_carrier_start(struct fib_carrier *c);
void fib_carrier_join(struct fib_carrier *c);

#endif
