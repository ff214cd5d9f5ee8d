/* SPDX-License-Identifier: MIT */
/*
 * profile.h - sample what the carriers compute, while a client asks for it
 *
 * All functions need the lock of the list of schedulers, unless they say otherwise.
 */
#ifndef FIB_WATCH_PROFILE_H
#define FIB_WATCH_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "watch/profile_ring.h"

struct fib_sched;

/*
 * A client wants hz samples a second, from 1 to FIB_WIRE_PROFILE_HZ, from now for
 * FIB_WIRE_PROFILE_LEASE. If others want more, there are more. carriers: how many there are in all runtimes. Returns 0 or
 * -ENOMEM.
 */
int fib_profile_renew(unsigned hz, unsigned carriers, int64_t now);

/* Samples a second now; 0: off. */
unsigned fib_profile_hz(void);

/*
 * Called once a tick: whether carriers are to be sampled in this tick. Ends the lease when it is
 * over.
 */
bool fib_profile_due(int64_t now);

/* Called after that for each scheduler: collect its samples, and if due, take new ones. */
void fib_profile_look(struct fib_sched *s, int64_t now, bool due);

/* When the lease ends, ns; INT64_MAX: off. By the service thread, without the lock. */
int64_t fib_profile_ends(void);

/* End the lease at once, and give its memory back. Schedulers notice at their next look. */
void fib_profile_end(void);

/* How many samples were ever taken, and sample `number`, as fib_profile_ring_at(). */
uint64_t fib_profile_taken(void);
const struct fib_profile_sample *fib_profile_at(uint64_t number);

/* The number of the oldest sample that is left. */
uint64_t fib_profile_oldest(void);

#endif
