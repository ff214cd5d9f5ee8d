/* SPDX-License-Identifier: MIT */
/* outside.h - wait in real time for what happens outside the process */
#ifndef FIB_TEST_SCHED_OUTSIDE_H
#define FIB_TEST_SCHED_OUTSIDE_H

#include <stdbool.h>

/*
 * No fiber can run and no deadline is armed. Wait until a descriptor that a fiber waits for is
 * ready; os/virtual.h says how long. Does not wait if only fibers could make one ready
 * (net/inside.h). pollers: the descriptors of n pollers. operations: one of them may
 * report an operation of the kernel (fiber/op.h). False: nothing became ready.
 */
bool fib_outside_wait(const int *pollers, unsigned n, bool operations);

#endif
