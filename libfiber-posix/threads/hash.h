/* SPDX-License-Identifier: MIT */
/* hash.h - a slot of a table for an address */
#ifndef FPX_THREADS_HASH_H
#define FPX_THREADS_HASH_H

#include <stdint.h>

/* The table has 2^log2 slots. Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4). */
static inline unsigned fpx_hash(const void *address, unsigned log2)
{
	return (unsigned)((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - log2));
}

#endif
