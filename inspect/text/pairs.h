/* SPDX-License-Identifier: MIT */
/* pairs.h - a set of pairs of numbers; each pair is numbered from 0 in the order of insertion */
#ifndef INS_PAIRS_H
#define INS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct ins_pair {
	uint64_t a, b;
	size_t number; /* number + 1; 0: a free slot */
};

/* Empty when zeroed. */
struct ins_pairs {
	struct ins_pair *slot;
	size_t count, slots;
	uint64_t seed[2]; /* random per run, so that input cannot be chosen to collide */
};

/*
 * Add a pair. Returns 1: it is new, 0: it exists, or -ENOMEM. *ret is its number, if ret is not
 * NULL.
 */
int ins_pairs_add(struct ins_pairs *pairs, uint64_t a, uint64_t b, size_t *ret);

void ins_pairs_drop(struct ins_pairs *pairs);

#endif
