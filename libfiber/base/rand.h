/* SPDX-License-Identifier: MIT */
/* rand.h - a small fast random generator, for steal victims and stack colours. Not for secrets. */
#ifndef FIB_BASE_RAND_H
#define FIB_BASE_RAND_H

#include <stdint.h>

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
 * 2014). state must not be 0. */
static inline uint32_t fib_rand(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (uint32_t)((x * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

/* Uniform enough below n > 0 (Lemire's multiply-shift, without the rejection step). */
static inline uint32_t fib_rand_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(((uint64_t)fib_rand(state) * n) >> 32);
}

#endif
