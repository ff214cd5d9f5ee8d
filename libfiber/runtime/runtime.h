/* SPDX-License-Identifier: MIT */
/* runtime.h - the runtime: a scheduler, registered in the process */
#ifndef FIB_RUNTIME_RUNTIME_H
#define FIB_RUNTIME_RUNTIME_H

#include <fiber/runtime.h>

#include "sched/sched.h"

struct fiber_runtime {
	struct fib_sched sched;
};

/*
 * Make a scheduler in *s and start its carriers. Of the options, which are complete, it takes the
 * numbers of carriers, the sizes of a stack and a guard, shared_fpu and pinned_policy. dispatch is
 * called with the events of the poller. Returns 0, -ENOMEM, or -EAGAIN if a thread cannot be
 * created. After an error there is nothing to release.
 */
int fib_sched_start(struct fib_sched *s, const struct fiber_runtime_options *options,
		    fib_dispatch_fn *dispatch);

/* Stop the carriers and release everything. The caller has checked with fib_close that no fiber is
 * left. */
void fib_sched_stop(struct fib_sched *s);

/* Copy the caller's options, with every default filled in. options may be NULL. Returns 0 or
 * -EINVAL. */
int fib_options_complete(const struct fiber_runtime_options *options,
			 struct fiber_runtime_options *ret);

/* Keep data shared by all runtimes consistent in children that are forked from now on. */
void fib_fork_watch(void);

/* Report stack overflows of this process from now on. Returns 0 or a negative errno. */
int fib_fault_report(void);

#endif
