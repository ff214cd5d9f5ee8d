/* SPDX-License-Identifier: MIT */
/* isolate.h - run a schedule in a process of its own */
#ifndef FIB_TEST_ISOLATE_H
#define FIB_TEST_ISOLATE_H

#include "explore/run.h"

/*
 * fib_run_schedule() in a forked process. Returns where that ended well; with a finding, or if it
 * cannot be forked, it ends the calling process (finding.h).
 */
fib_run_fn fib_isolate;

#endif
