/* SPDX-License-Identifier: MIT */
/* tls.c - the library's thread-local; see tls.h for why the functions must not be inlined */
#include "base/tls.h"

#include "base/compiler.h"

static _Thread_local void *this_carrier __attribute__((tls_model("initial-exec")));

fib_noinline void *fib_tls_carrier(void)
{
	void *carrier = this_carrier;

	/* Prevents the compiler from proving the function pure and merging two calls into one. */
	__asm__ volatile("" : "+r"(carrier)::"memory");
	return carrier;
}

fib_noinline void fib_tls_set_carrier(void *carrier)
{
	this_carrier = carrier;
}
