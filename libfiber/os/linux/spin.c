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
 * each time it is free, and the holder waits for the line behind them (bench/model).
 */
#include "os/spin.h"

#define PAUSE_MAX 128u

void fib_spin_wait(_Atomic uint32_t *lock)
{
	unsigned pause = 4, i;

	do {
		while (fib_load(lock)) {
			for (i = 0; i < pause; i++)
				fib_relax();
			if (pause < PAUSE_MAX)
				pause *= 2;
			else
				fib_os_yield();
		}
		/* pairs: spin.unlock */
	} while (atomic_exchange_explicit(lock, 1, memory_order_acquire));
}
