/* SPDX-License-Identifier: MIT */
/* runtime.h - a scheduler with its place in the process. */
#ifndef FIB_RUNTIME_RUNTIME_H
#define FIB_RUNTIME_RUNTIME_H

#include <fiber/runtime.h>

#include "sched/sched.h"

struct fiber_runtime {
	struct fib_sched sched;
};

/* What the caller asked for, with every default filled in. options may be NULL. 0, -EINVAL. */
int fib_options_complete(const struct fiber_runtime_options *options,
			 struct fiber_runtime_options *ret);

/* Have children that are forked from now on find what all runtimes share whole. */
void fib_fork_watch(void);

/* Report stack overflows of this process from now on. 0 or a negative errno. */
int fib_fault_report(void);

#endif
