/* SPDX-License-Identifier: MIT */
/* process.c - facts about this process; _prepare says that no call makes other threads execute a fence */
#include "os/os.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "os/features.h"

fib_noinline void fib_os_yield(void)
{
	sched_yield();
}

const char *fib_os_program(void)
{
	const char *name = getprogname();

	return name ? name : "";
}

/* Without it waiters execute a fence themselves, and stacks of waiting fibers are not trimmed. */
fib_noinline int fib_os_barrier_prepare(void)
{
	fib_os_feature_lacks(FIB_OS_MEMBARRIER);
	return -ENOSYS;
}

fib_noinline int fib_os_barrier(void)
{
	return -EPERM;
}
