/* SPDX-License-Identifier: MIT */
/* carriers.h - carriers are threads: the library of production */
#ifndef FIB_RUNTIME_CARRIERS_H
#define FIB_RUNTIME_CARRIERS_H

#include <pthread.h>

#include <fiber/fiber.h>

#include "os/threads.h"
#include "sched/sched.h"

/* How many carriers a runtime gets whose options ask for n. */
static inline unsigned fib_carriers_wanted(unsigned n)
{
	return n;
}

/* Whether the caller may wait here until a runtime has finished. */
static inline bool fib_may_run_runtime(void)
{
	return !fiber_self();
}

/* Start the thread of carrier c. Returns 0 or a negative errno. */
static inline int fib_carrier_start(struct fib_carrier *c)
{
	return fib_os_thread_start(&c->thread, fib_carrier_main, c);
}

/* Wait until the thread of carrier c has exited; its scheduler is stopping. */
static inline void fib_carrier_join(struct fib_carrier *c)
{
	pthread_join(c->thread, NULL);
}

#endif
