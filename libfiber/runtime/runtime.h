/* SPDX-License-Identifier: MIT */
/* runtime.h - the runtime: a scheduler, registered in the process */
#ifndef FIB_RUNTIME_RUNTIME_H
#define FIB_RUNTIME_RUNTIME_H

#include <fiber/runtime.h>

#include "sched/sched.h"

struct fiber_runtime {
	struct fib_sched sched;
};

/* Copy the caller's options, with every default filled in. options may be NULL. Returns 0 or
 * -EINVAL. */
int fib_options_complete(const struct fiber_runtime_options *options,
			 struct fiber_runtime_options *ret);

/* Keep data shared by all runtimes consistent in children that are forked from now on. */
void fib_fork_watch(void);

/* Report stack overflows of this process from now on. Returns 0 or a negative errno. */
int fib_fault_report(void);

#endif
