/* SPDX-License-Identifier: MIT */
/*
 * sleeper.c - no call says where another thread sleeps
 *
 * So a thread that sleeps in a call of the system cannot be told from one that computes.
 */
#include "os/sample.h"

#include <errno.h>

#include "base/compiler.h"

fib_noinline int fib_os_thread_place(uint32_t tid, struct fib_sleeper_place *ret)
{
	(void)tid;
	(void)ret;
	return -ENOSYS;
}

fib_noinline void fib_os_thread_place_keep(struct fib_os_kept *ret)
{
	*ret = FIB_OS_NOT_KEPT;
}

fib_noinline int fib_os_thread_place_of(struct fib_os_kept *kept, uint32_t tid,
					struct fib_sleeper_place *ret)
{
	(void)kept;
	return fib_os_thread_place(tid, ret);
}
