/* SPDX-License-Identifier: MIT */
/* seed.c - a generator for each strategy and schedule */
#include "strategy/strategy.h"

/* splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators"). */
uint64_t fib_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t fib_strategy_seed(uint64_t seed, uint64_t number, uint64_t salt)
{
	const uint64_t z = fib_mix(seed * UINT64_C(0x9e3779b97f4a7c15) +
				   number * UINT64_C(0xbf58476d1ce4e5b9) +
				   salt * UINT64_C(0x94d049bb133111eb));

	return z ? z : 1;
}
