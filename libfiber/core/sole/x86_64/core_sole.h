/* SPDX-License-Identifier: MIT */
/*
 * core_sole.h - compare-and-swap without the lock prefix
 *
 * It is one instruction, so a signal handler on the same thread comes before or after it.
 */
#ifndef FIB_CORE_SOLE_ARCH_H
#define FIB_CORE_SOLE_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define FIB_SOLE_POSSIBLE true

/* A number of the calling thread: the address of its control block. */
static inline uint64_t fib_sole_thread(void)
{
	uint64_t thread;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	return thread;
}

static inline bool fib_sole_plain_cas32(_Atomic uint32_t *p, uint32_t expected, uint32_t v)
{
	bool done;

	__asm__ volatile("cmpxchg %3, %1"
			 : "=@ccz"(done), "+m"(*p), "+a"(expected)
			 : "r"(v)
			 : "memory");
	return done;
}

static inline bool fib_sole_plain_cas64(_Atomic uint64_t *p, uint64_t expected, uint64_t v)
{
	bool done;

	__asm__ volatile("cmpxchg %3, %1"
			 : "=@ccz"(done), "+m"(*p), "+a"(expected)
			 : "r"(v)
			 : "memory");
	return done;
}

#endif
