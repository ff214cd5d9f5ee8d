/* SPDX-License-Identifier: MIT */
/*
 * atomic8.h - atomics of 8 bytes for a CPU that has no instructions for them
 *
 * The compiler makes calls of libatomic there. The build renames these calls in libfiber's objects
 * to the functions below, which have the arguments that the compiler gives. The calls of a program
 * remain those of libatomic: it may not use the same variable.
 *
 * Each function may be called by any thread, and by a signal handler that interrupts one of them.
 * An order is an __ATOMIC_ constant. An object is aligned to 4 bytes. It is in memory of this
 * process alone: other processes have other locks.
 */
#ifndef FIB_OS_LINUX_ATOMIC8_H
#define FIB_OS_LINUX_ATOMIC8_H

#include <stdbool.h>
#include <stdint.h>

uint64_t fib_os_atomic8_load(const volatile void *object, int order);
void fib_os_atomic8_store(volatile void *object, uint64_t value, int order);

/* *expected is updated on failure. */
bool fib_os_atomic8_cas(volatile void *object, void *expected, uint64_t value, int success,
			int failure);

/* These return the value before. */
uint64_t fib_os_atomic8_swap(volatile void *object, uint64_t value, int order);
uint64_t fib_os_atomic8_add(volatile void *object, uint64_t value, int order);
uint64_t fib_os_atomic8_sub(volatile void *object, uint64_t value, int order);
uint64_t fib_os_atomic8_and(volatile void *object, uint64_t value, int order);
uint64_t fib_os_atomic8_or(volatile void *object, uint64_t value, int order);
uint64_t fib_os_atomic8_xor(volatile void *object, uint64_t value, int order);

#endif
