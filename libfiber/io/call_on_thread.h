/* SPDX-License-Identifier: MIT */
/* call_on_thread.h - one blocking call on a thread that exits with the wait. See call_on_thread.c for the rule. */
#ifndef FIB_IO_CALL_ON_THREAD_H
#define FIB_IO_CALL_ON_THREAD_H

#include <stdint.h>

/*
 * Call fn(arg) on a new thread and wait until it returns. fn may block only in cancellation points
 * of the system, and may be cancelled in each of them. name: the object of the wait, for the tools.
 * For fibers and threads.
 *
 * 0: fn has returned, perhaps after the deadline. -ETIMEDOUT, -ECANCELED, -EDEADLK (pinned): fn was
 * cancelled or never called; -EAGAIN: no thread can be made. In all cases arg is not used any more.
 */
int fib_call_on_thread(const char *name, void (*fn)(void *arg), void *arg, int64_t deadline);

#endif
