/* SPDX-License-Identifier: MIT */
/* pairs.h - pairs of numbers, each with a number of its own, from 0 on as they come. */
#ifndef INS_PAIRS_H
#define INS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct ins_pair {
	uint64_t a, b;
	size_t number; /* and one more; 0: a free place */
};

/* Zeroed it is empty. */
struct ins_pairs {
	struct ins_pair *slot;
	size_t count, slots;
	uint64_t seed[2]; /* of this run, so that nobody can choose what collides */
};

/* 1: the pair is new, 0: it was there; and its number, if ret is not NULL. -ENOMEM. */
int ins_pairs_add(struct ins_pairs *pairs, uint64_t a, uint64_t b, size_t *ret);

void ins_pairs_drop(struct ins_pairs *pairs);

#endif
