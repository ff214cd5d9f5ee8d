/* SPDX-License-Identifier: MIT */
/* halt.h - stop the carriers of all runtimes wherever they are, and let them continue */
#ifndef FIB_WATCH_HALT_H
#define FIB_WATCH_HALT_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/sched.h"

/*
 * Become the one thread that may stop the carriers, waiting until no other thread is. Returns 0;
 * -EDEADLK: the caller is that already; -ETIMEDOUT at the deadline, ns.
 */
int fib_halt_claim(int64_t deadline);
void fib_halt_disclaim(void);

/* Whether the calling thread has the claim, and the carriers are stopped. */
bool fib_halt_mine(void);

/*
 * Stop every carrier except the caller's, each in its signal handler, and close the list of
 * schedulers (fib_tick_close). By the claimant. Returns 0; -EAGAIN: a carrier had not stopped at the
 * deadline, ns; -EBUSY: a carrier cannot be stopped; -ESRCH: a thread is gone. After an error nothing is
 * stopped.
 */
int fib_halt(int64_t deadline);

/* Let them continue. By the claimant, after fib_halt(). */
void fib_halt_end(void);

/* The stopped carriers, linked through ->halt.next, and the caller's, if it is one. By the claimant. */
struct fib_carrier *fib_halted(void);

/* In a forked child: nothing is stopped. */
void fib_halt_forget(void);

#endif
