/* SPDX-License-Identifier: MIT */
/* running.h - which fiber runs on a carrier at this moment, for other threads; see running.c */
#ifndef FIB_SCHED_RUNNING_H
#define FIB_SCHED_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

struct fib_carrier;
struct fiber;

/*
 * The record of the fiber that runs on c, or NULL. Any thread. When this returns it may belong to
 * another fiber, but it stays mapped.
 */
struct fiber *fib_running_on(const struct fib_carrier *c);

/*
 * Returns whether the fiber with this id runs on another carrier of c's runtime. The answer may be
 * out of date when it is returned. With more than 64 carriers: false.
 */
bool fib_running_beside(const struct fib_carrier *c, uint64_t id);

#endif
