/* SPDX-License-Identifier: MIT */
/*
 * spin.h - a lock for a few instructions, held by carriers, threads and the service thread
 *
 * Code that holds one must not wait, allocate or make a system call. The holder may still be
 * preempted, so a thread that spins for long yields its CPU.
 */
#ifndef FIB_OS_SPIN_H
#define FIB_OS_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/os.h"

/* Take a lock that was held. Out of line: most locks are free. */
void fib_spin_wait(_Atomic uint32_t *lock);

static inline void fib_spin_lock(_Atomic uint32_t *lock)
{
	/* pairs: spin.unlock -- what the last holder wrote is visible. */
	if (fib_unlikely(atomic_exchange_explicit(lock, 1, memory_order_acquire)))
		fib_spin_wait(lock);
}

/* Take a lock if it is free. */
static inline bool fib_spin_try(_Atomic uint32_t *lock)
{
	/* pairs: spin.unlock */
	return !fib_load(lock) && !atomic_exchange_explicit(lock, 1, memory_order_acquire);
}

static inline void fib_spin_unlock(_Atomic uint32_t *lock)
{
	/* label: spin.unlock */
	fib_store_release(lock, 0);
}

#endif
