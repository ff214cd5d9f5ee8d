/* SPDX-License-Identifier: MIT */
/* tls.c - the library's thread-locals; see tls.h for why only this file has its address */
#include "base/tls.h"

#include <stddef.h>

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

fib_noinline ptrdiff_t fib_tls_carrier_offset(const void *thread_pointer)
{
	return (char *)&fib_tls_slot - (const char *)thread_pointer;
}

/* Of a plain thread and its signal handlers. */
static _Thread_local volatile unsigned depth __attribute__((tls_model("initial-exec")));
static _Thread_local void (*volatile deferred)(void) __attribute__((tls_model("initial-exec")));

fib_noinline void fib_tls_enter_thread(void)
{
	depth++;
}

fib_noinline void fib_tls_leave_thread(void)
{
	void (*later)(void);

	if (--depth > 0)
		return;
	/* From here on a handler defers nothing. */
	later = deferred;
	if (later) {
		deferred = NULL;
		later();
	}
}

fib_noinline bool fib_tls_defer(void (*later)(void))
{
	if (fib_tls_slot || !depth)
		return false;
	deferred = later;
	return true;
}
