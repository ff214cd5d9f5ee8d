/* SPDX-License-Identifier: MIT */
/*
 * atomics.c - atomic operations of objects compiled with -fsanitize=thread
 *
 * The compilers replace each operation by a call, which makes the choice, then does the operation.
 * Values are those of a sequentially consistent machine; only the order is that of the declared
 * memory order. Operations of 16 bytes are not atomic towards other threads: fibers share one.
 */
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "memory/access.h"
#include "memory/actors.h"
#include "memory/ordering.h"

#define HERE   __builtin_return_address(0)
#define PUBLIC __attribute__((visibility("default")))

/* GCC passes more than the memory order in the upper bits. */
#define ORDER(order) ((order)&0x7fff)

/*
 * The functions have other names in C, because gcc knows those of ThreadSanitizer with types of its
 * own where a sanitizer is on.
 */

/* Make the choice and look for a race. The actor of the fiber. */
#define BEFORE(writes, what)                                                                      \
	fib_access_atomic(fib_access_choose((const void *)(uintptr_t)at, sizeof *at, what, HERE), \
			  (const void *)(uintptr_t)at, sizeof *at, writes, HERE)

#define LOAD(bits, type)                                                                       \
	PUBLIC type fib_atomic##bits##_load(const volatile type *at,                           \
					    int order) __asm__("__tsan_atomic" #bits "_load"); \
	PUBLIC type fib_atomic##bits##_load(const volatile type *at, int order)                \
	{                                                                                      \
		fib_ordering_load(BEFORE(false, "atomic_load"), at, ORDER(order));             \
		return load##bits(at);                                                         \
	}

#define STORE(bits, type)                                                                        \
	PUBLIC void fib_atomic##bits##_store(volatile type *at, type value,                      \
					     int order) __asm__("__tsan_atomic" #bits "_store"); \
	PUBLIC void fib_atomic##bits##_store(volatile type *at, type value, int order)           \
	{                                                                                        \
		fib_ordering_store(BEFORE(true, "atomic_store"), at, ORDER(order));              \
		swap##bits(at, value);                                                           \
	}

/* name: exchange, fetch_add, ...; value: the new value, from `old` and `operand` */
#define UPDATE(bits, type, name, value)                                                            \
	PUBLIC type fib_atomic##bits##_##name(volatile type *at, type operand,                     \
					      int order) __asm__("__tsan_atomic" #bits "_" #name); \
	PUBLIC type fib_atomic##bits##_##name(volatile type *at, type operand, int order)          \
	{                                                                                          \
		type old;                                                                          \
                                                                                                   \
		fib_ordering_update(BEFORE(true, "atomic_" #name), at, ORDER(order));              \
		old = load##bits(at);                                                              \
		while (!cas##bits(at, &old, (type)(value)))                                        \
			;                                                                          \
		return old;                                                                        \
	}

/* A failure only loads. The weak one does not fail without reason. */
#define COMPARE(bits, type)                                                                       \
	static inline int compare##bits(volatile type *at, type *expected, type value, int order, \
					int failure, const void *pc)                              \
	{                                                                                         \
		struct fib_actor *me;                                                             \
		bool done;                                                                        \
                                                                                                  \
		me = fib_access_choose((const void *)(uintptr_t)at, sizeof *at,                   \
				       "atomic_compare_exchange", pc);                            \
		done = cas##bits(at, expected, value);                                            \
		fib_access_atomic(me, (const void *)(uintptr_t)at, sizeof *at, done, pc);         \
		if (done)                                                                         \
			fib_ordering_update(me, at, ORDER(order));                                \
		else                                                                              \
			fib_ordering_load(me, at, ORDER(failure));                                \
		return done;                                                                      \
	}                                                                                         \
	PUBLIC int fib_atomic##bits##_compare_exchange_strong(                                    \
		volatile type *at, type *expected, type value, int order,                         \
		int failure) __asm__("__tsan_atomic" #bits "_compare_exchange_strong");           \
	PUBLIC int fib_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,  \
							      type value, int order, int failure) \
	{                                                                                         \
		return compare##bits(at, expected, value, order, failure, HERE);                  \
	}                                                                                         \
	PUBLIC int fib_atomic##bits##_compare_exchange_weak(                                      \
		volatile type *at, type *expected, type value, int order,                         \
		int failure) __asm__("__tsan_atomic" #bits "_compare_exchange_weak");             \
	PUBLIC int fib_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected,    \
							    type value, int order, int failure)   \
	{                                                                                         \
		return compare##bits(at, expected, value, order, failure, HERE);                  \
	}                                                                                         \
	PUBLIC type fib_atomic##bits##_compare_exchange_val(                                      \
		volatile type *at, type expected, type value, int order,                          \
		int failure) __asm__("__tsan_atomic" #bits "_compare_exchange_val");              \
	PUBLIC type fib_atomic##bits##_compare_exchange_val(volatile type *at, type expected,     \
							    type value, int order, int failure)   \
	{                                                                                         \
		compare##bits(at, &expected, value, order, failure, HERE);                        \
		return expected;                                                                  \
	}

#define OPERATIONS(bits, type)                           \
	LOAD(bits, type)                                 \
	STORE(bits, type)                                \
	UPDATE(bits, type, exchange, operand)            \
	UPDATE(bits, type, fetch_add, old + operand)     \
	UPDATE(bits, type, fetch_sub, old - operand)     \
	UPDATE(bits, type, fetch_and, old &operand)      \
	UPDATE(bits, type, fetch_or, old | operand)      \
	UPDATE(bits, type, fetch_xor, old ^ operand)     \
	UPDATE(bits, type, fetch_nand, ~(old & operand)) \
	COMPARE(bits, type)

/* The machine's own operations on 1 to 8 bytes. */
#define MACHINE(bits, type)                                                                      \
	static inline type load##bits(const volatile type *at)                                   \
	{                                                                                        \
		return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                    \
	}                                                                                        \
	static inline void swap##bits(volatile type *at, type value)                             \
	{                                                                                        \
		__atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                   \
	}                                                                                        \
	static inline bool cas##bits(volatile type *at, type *expected, type value)              \
	{                                                                                        \
		return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, \
						   __ATOMIC_SEQ_CST);                            \
	}

MACHINE(8, uint8_t)
MACHINE(16, uint16_t)
MACHINE(32, uint32_t)
MACHINE(64, uint64_t)
OPERATIONS(8, uint8_t)
OPERATIONS(16, uint16_t)
OPERATIONS(32, uint32_t)
OPERATIONS(64, uint64_t)

__extension__ typedef unsigned __int128 wide;

static inline wide load128(const volatile wide *at)
{
	return *at;
}

static inline void swap128(volatile wide *at, wide value)
{
	*at = value;
}

static inline bool cas128(volatile wide *at, wide *expected, wide value)
{
	if (*at != *expected) {
		*expected = *at;
		return false;
	}
	*at = value;
	return true;
}

OPERATIONS(128, wide)

PUBLIC void __tsan_atomic_thread_fence(int order);
PUBLIC void __tsan_atomic_thread_fence(int order)
{
	struct fib_actor *me = fib_access_choose(NULL, 0, "atomic_thread_fence", HERE);

	fib_ordering_fence(me, ORDER(order));
}

/* It orders the fiber with signal handlers only. */
PUBLIC void __tsan_atomic_signal_fence(int order);
PUBLIC void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
