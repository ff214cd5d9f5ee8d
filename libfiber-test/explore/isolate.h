/* SPDX-License-Identifier: MIT */
/* isolate.h - run a schedule in a process of its own */
#ifndef FIB_TEST_ISOLATE_H
#define FIB_TEST_ISOLATE_H

#include "explore/run.h"

/*
 * Call fn(arg) in a forked process, which exits with 0 when fn returns. Returns when that process has
 * ended well; with a finding, or if it cannot be forked, it ends the calling process (finding.h).
 */
void fib_isolate_call(void (*fn)(void *arg), void *arg);

/*
 * fib_run_schedule() in a forked process, as fib_isolate_call() says.
 */
fib_run_fn fib_isolate;

#endif
