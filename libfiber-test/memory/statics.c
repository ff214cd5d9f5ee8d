/* SPDX-License-Identifier: MIT */
/*
 * statics.c - initialization of local static variables of C++, in place of libstdc++'s
 *
 * A compiler guards such a variable by 8 bytes and these calls (Itanium C++ ABI 3.3.3). libstdc++
 * blocks the thread while another one initializes the variable. Here that may be a fiber of the
 * same thread, which another fiber interrupted at an access; so the caller yields. The end of the
 * initialization happens before each later use.
 */
#include <sched.h>
#include <stdint.h>

#include <fiber/fiber.h>

#include "order.h"

#define PUBLIC __attribute__((visibility("default")))

/* The first byte of a guard is the ABI's: initialized. The second is ours: being initialized. */
#define DONE 0
#define BUSY 1

PUBLIC int __cxa_guard_acquire(unsigned char *guard);
PUBLIC int __cxa_guard_acquire(unsigned char *guard)
{
	while (!__atomic_load_n(&guard[DONE], __ATOMIC_ACQUIRE)) {
		if (!__atomic_exchange_n(&guard[BUSY], 1, __ATOMIC_ACQUIRE)) {
			if (!__atomic_load_n(&guard[DONE], __ATOMIC_ACQUIRE))
				return 1;
			__atomic_store_n(&guard[BUSY], 0, __ATOMIC_RELEASE);
		} else if (fiber_yield() < 0) {
			sched_yield();
		}
	}
	fib_order_acquire(guard);
	return 0;
}

PUBLIC void __cxa_guard_release(unsigned char *guard);
PUBLIC void __cxa_guard_release(unsigned char *guard)
{
	fib_order_release(guard);
	__atomic_store_n(&guard[DONE], 1, __ATOMIC_RELEASE);
	__atomic_store_n(&guard[BUSY], 0, __ATOMIC_RELEASE);
}

/* The initialization ended by an exception: the next caller tries again. */
PUBLIC void __cxa_guard_abort(unsigned char *guard);
PUBLIC void __cxa_guard_abort(unsigned char *guard)
{
	fib_order_release(guard);
	__atomic_store_n(&guard[BUSY], 0, __ATOMIC_RELEASE);
}
