/* SPDX-License-Identifier: MIT */
/* pairs.c - numbered pairs: a hash table that is at most half full */
#include "inspect/text/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define LEAST 64

__extension__ typedef unsigned __int128 wide;

static uint64_t mix(uint64_t a, uint64_t b)
{
	const wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static size_t hash(const struct ins_pairs *s, uint64_t a, uint64_t b)
{
	return (size_t)mix(mix(a ^ s->seed[0], UINT64_C(0x9e3779b97f4a7c15)) ^ b, s->seed[1] | 1);
}

/* The slot that has the pair, or the free slot for it. */
static struct ins_pair *find(const struct ins_pairs *s, uint64_t a, uint64_t b)
{
	size_t at = hash(s, a, b) & (s->slots - 1);

	while (s->slot[at].number && (s->slot[at].a != a || s->slot[at].b != b))
		at = (at + 1) & (s->slots - 1);
	return &s->slot[at];
}

static int grow(struct ins_pairs *s)
{
	const struct ins_pairs old = *s;
	const size_t slots = old.slots ? 2 * old.slots : LEAST;
	struct ins_pair *slot = calloc(slots, sizeof *slot);
	size_t i;

	if (!slot)
		return -ENOMEM;
	s->slot = slot;
	s->slots = slots;
	memcpy(s->seed, (const void *)getauxval(AT_RANDOM), sizeof s->seed);
	for (i = 0; i < old.slots; i++)
		if (old.slot[i].number)
			*find(s, old.slot[i].a, old.slot[i].b) = old.slot[i];
	free(old.slot);
	return 0;
}

int ins_pairs_add(struct ins_pairs *s, uint64_t a, uint64_t b, size_t *ret)
{
	struct ins_pair *at;
	int fresh;

	if (2 * s->count >= s->slots && grow(s) < 0)
		return -ENOMEM;
	at = find(s, a, b);
	fresh = !at->number;
	if (fresh)
		*at = (struct ins_pair){a, b, ++s->count};
	if (ret)
		*ret = at->number - 1;
	return fresh;
}

void ins_pairs_drop(struct ins_pairs *s)
{
	free(s->slot);
	*s = (struct ins_pairs){0};
}
