/* SPDX-License-Identifier: MIT */
/* elsewhere.h - does a fiber run on another carrier at this moment? See elsewhere.c */
#ifndef FIB_SCHED_ELSEWHERE_H
#define FIB_SCHED_ELSEWHERE_H

#include <stdbool.h>
#include <stdint.h>

struct fib_carrier;

/*
 * Returns whether the fiber with this id runs on another carrier of c's runtime. The answer may be
 * out of date when it is returned. With more than 64 carriers: false.
 */
bool fib_runs_elsewhere(const struct fib_carrier *c, uint64_t id);

#endif
