/* SPDX-License-Identifier: MIT */
/*
 * clocks.h - vector clocks
 *
 * A clock has an entry for each slot; each fiber has a slot (actors.h). Entry s of a fiber's clock
 * is the last step of the fiber in slot s that happens before what the fiber does now. NULL is a
 * clock of zeros. Clocks are in the arena.
 */
#ifndef FIB_TEST_CLOCKS_H
#define FIB_TEST_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct fib_clock {
	uint32_t n, room;
	uint32_t at[];
};

static inline uint32_t fib_clock_get(const struct fib_clock *clock, uint32_t slot)
{
	return clock && slot < clock->n ? clock->at[slot] : 0;
}

void fib_clock_set(struct fib_clock **clock, uint32_t slot, uint32_t value);

/* Raise each entry of *to to that of from. */
void fib_clock_join(struct fib_clock **to, const struct fib_clock *from);

struct fib_clock *fib_clock_copy(const struct fib_clock *from);

#endif
