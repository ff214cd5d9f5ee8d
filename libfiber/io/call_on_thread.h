/* SPDX-License-Identifier: MIT */
/* call_on_thread.h - one call that blocks, on a thread that ends with the wait. See call_on_thread.c for the rule. */
#ifndef FIB_IO_CALL_ON_THREAD_H
#define FIB_IO_CALL_ON_THREAD_H

#include <stdint.h>

/*
 * Call fn(arg) on a thread of its own and wait until it returns. fn blocks in cancellation points of the system only,
 * and may be ended in each of them. name: what the tools say is waited for. From a fiber or a thread.
 *
 * 0: fn has returned, perhaps when the deadline had passed. -ETIMEDOUT, -ECANCELED, -EDEADLK (pinned): it was ended or
 * never called; -EAGAIN: no thread can be made. Either way nobody uses arg any more.
 */
int fib_call_on_thread(const char *name, void (*fn)(void *arg), void *arg, int64_t deadline);

#endif
