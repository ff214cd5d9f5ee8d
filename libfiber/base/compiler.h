/* SPDX-License-Identifier: MIT */
/* compiler.h - compiler features beyond C11 */
#ifndef FIB_BASE_COMPILER_H
#define FIB_BASE_COMPILER_H

#include <stddef.h>

#define FIB_CACHE_LINE 64

#define fib_likely(x)		       __builtin_expect(!!(x), 1)
#define fib_unlikely(x)		       __builtin_expect(!!(x), 0)
#define fib_noinline		       __attribute__((noinline))
#define fib_always_inline	       inline __attribute__((always_inline))
#define fib_aligned(n)		       __attribute__((aligned(n)))
#define fib_printf(f, a)	       __attribute__((format(printf, f, a)))
#define fib_container(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))
#define fib_countof(a)		       (sizeof(a) / sizeof((a)[0]))

/* For a function that reads, through volatile, data that other threads write at the same time. This
 * is intended, so the thread sanitizer must not report it. Out of line, because inlined code would
 * be instrumented in the caller. */
#define fib_unwatched fib_noinline __attribute__((no_sanitize("thread")))

/* Tell the CPU that this is a spin loop. */
static inline void fib_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#elif defined(__riscv)
	/* pause, as a number: a hint that assemblers and CPUs without Zihintpause take too. */
	__asm__ volatile(".word 0x0100000f" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif
