/* SPDX-License-Identifier: MIT */
/* tls.c - the library's thread-local; see tls.h for why only this file has its address */
#include "base/tls.h"

#include "base/compiler.h"

/* tls_read.h reads it too. */
extern _Thread_local void *fib_tls_slot
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
_Thread_local void *fib_tls_slot;

fib_noinline void *fib_tls_carrier_call(void)
{
	void *carrier = fib_tls_slot;

	/* Prevents the compiler from proving the function pure and merging two calls into one. */
	__asm__ volatile("" : "+r"(carrier)::"memory");
	return carrier;
}

fib_noinline void fib_tls_set_carrier(void *carrier)
{
	fib_tls_slot = carrier;
}
