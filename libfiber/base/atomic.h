/* SPDX-License-Identifier: MIT */
/*
 * atomic.h - all atomic operations of the library
 *
 * Every field that two threads touch is accessed through these names, so that a model checker can
 * replace them. Each access stronger than relaxed has a comment that says what becomes visible and
 * names the other end ("pairs: file.label").
 */
#ifndef FIB_BASE_ATOMIC_H
#define FIB_BASE_ATOMIC_H

#include <stdatomic.h>

#define fib_load(p)		atomic_load_explicit(p, memory_order_relaxed)
#define fib_load_acquire(p)	atomic_load_explicit(p, memory_order_acquire)
#define fib_load_seq(p)		atomic_load_explicit(p, memory_order_seq_cst)
#define fib_store(p, v)		atomic_store_explicit(p, v, memory_order_relaxed)
#define fib_store_release(p, v) atomic_store_explicit(p, v, memory_order_release)
#define fib_store_seq(p, v)	atomic_store_explicit(p, v, memory_order_seq_cst)
#define fib_swap(p, v)		atomic_exchange_explicit(p, v, memory_order_acq_rel)
#define fib_swap_seq(p, v)	atomic_exchange_explicit(p, v, memory_order_seq_cst)
#define fib_add(p, v)		atomic_fetch_add_explicit(p, v, memory_order_acq_rel)
#define fib_add_relaxed(p, v)	atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define fib_sub(p, v)		atomic_fetch_sub_explicit(p, v, memory_order_acq_rel)
#define fib_or(p, v)		atomic_fetch_or_explicit(p, v, memory_order_acq_rel)
#define fib_and(p, v)		atomic_fetch_and_explicit(p, v, memory_order_acq_rel)

/* *expected is updated on failure. Success is acquire-release, failure acquire. */
#define fib_cas(p, expected, v)                                                       \
	atomic_compare_exchange_strong_explicit(p, expected, v, memory_order_acq_rel, \
						memory_order_acquire)
#define fib_cas_seq(p, expected, v)                                                   \
	atomic_compare_exchange_strong_explicit(p, expected, v, memory_order_seq_cst, \
						memory_order_acquire)

/* For fields that C programs outside share as plain fields: the registry's self-description,
 * ids. */
#define fib_publish(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define fib_observe(p)	  __atomic_load_n(p, __ATOMIC_ACQUIRE)

#define fib_fence_release() atomic_thread_fence(memory_order_release)
#define fib_fence_acquire() atomic_thread_fence(memory_order_acquire)
#define fib_fence_seq()	    atomic_thread_fence(memory_order_seq_cst)
/* For one side of a pair whose other side makes every thread execute a fence (os.h,
 * fib_os_barrier). */
#define fib_fence_compiler() atomic_signal_fence(memory_order_seq_cst)

#endif
