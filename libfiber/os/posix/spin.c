/* SPDX-License-Identifier: MIT */
/*
 * spin.c - take a spin lock that is held
 *
 * A look at the lock takes its cache line away from the holder, which has the queue that it guards
 * in the same line. So the pause between two looks grows, from 4 to 128 relaxes (about 3 us). A
 * lock that is still held then has probably a holder without a CPU: each later look yields this
 * one. With a look after each relax, 10 senders and 10 receivers of one channel on 2 carriers took
 * two to five times as long.
 *
 * The pause keeps its length when another thread takes the lock first. Else all that wait try at once
 * each time it is free, and the holder waits for the line behind them.
 *
 * Above 128 relaxes the pause is proportional to the number of threads that pause. So the line has
 * the same number of looks in a microsecond from 4 threads and from 200. A thread that yields its
 * CPU does not count: more threads than CPUs do not make pauses long. Locks that share a counter,
 * and counts that a fork leaves behind, only make pauses longer. With 256 carriers, an element of
 * one channel takes 393 ns; with pauses of at most 128 relaxes it takes 2,101 ns (bench/model).
 * (Proportional backoff: Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization on
 * Shared-Memory Multiprocessors", 1991.)
 */
#include "os/spin.h"

#define PAUSE_FIRST 4u	 /* relaxes */
#define PAUSE_GROWN 128u /* relaxes */
#define PAUSE_EACH  32u	 /* relaxes for each thread that pauses */

static struct {
	_Atomic uint32_t threads fib_aligned(FIB_CACHE_LINE); /* A: that pause now */
} pausing[16];

static void relax(unsigned n)
{
	while (n--)
		fib_relax();
}

/* A pause beside other threads that wait for the same lock. */
static void pause_in_turn(const _Atomic uint32_t *lock)
{
	const size_t line = (uintptr_t)lock / FIB_CACHE_LINE;
	_Atomic uint32_t *threads = &pausing[line % fib_countof(pausing)].threads;
	const unsigned n = (fib_add_relaxed(threads, 1) + 1) * PAUSE_EACH;

	relax(n > PAUSE_GROWN ? n : PAUSE_GROWN);
	fib_sub(threads, 1);
}

void fib_spin_wait(_Atomic uint32_t *lock)
{
	unsigned pause = PAUSE_FIRST;

	do {
		while (fib_load(lock)) {
			if (pause < PAUSE_GROWN) {
				relax(pause);
				pause *= 2;
			} else {
				pause_in_turn(lock);
				fib_os_yield();
			}
		}
		/* pairs: spin.unlock */
	} while (atomic_exchange_explicit(lock, 1, memory_order_acquire));
}
