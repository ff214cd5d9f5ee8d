/* SPDX-License-Identifier: MIT */
/* carriers.h - carriers are no threads: the library under test */
#ifndef FIB_RUNTIME_CARRIERS_H
#define FIB_RUNTIME_CARRIERS_H

#include "sched/sched.h"

/* One. */
unsigned fib_carriers_wanted(unsigned n);

/* Also in a fiber of a schedule, which may run what is the main function of a program. */
bool fib_may_run_runtime(void);

/* The thread that waits for fibers runs them: sched/loop.h. */
int fib_carrier_start(struct fib_carrier *c);
void fib_carrier_join(struct fib_carrier *c);

#endif
