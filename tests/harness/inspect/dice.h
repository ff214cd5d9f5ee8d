/* SPDX-License-Identifier: MIT */
/* dice.h - random numbers that are the same in every run */
#ifndef TEST_INSPECT_DICE_H
#define TEST_INSPECT_DICE_H

#include <stdint.h>

/* A number of 0 .. below - 1; below is at least 1, *seed is not 0. */
static inline unsigned dice(uint64_t *seed, unsigned below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (unsigned)((*seed >> 20) % below);
}

#endif
