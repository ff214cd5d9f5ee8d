/* SPDX-License-Identifier: MIT */
/* hash.c - hash the choices of schedules */
#include "explore/hash.h"

#include "strategy/strategy.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return fib_mix((hash ^ value) + UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t fib_hash_choice(uint64_t hash, const struct fib_choice *choice, unsigned chosen,
			 const struct fib_intent *intents)
{
	unsigned i;

	hash = mix(hash, (uint64_t)choice->kind << 48 | (uint64_t)choice->goes_on << 40 |
				 (uint64_t)choice->n << 20 | chosen);
	if (choice->kind != FIB_CHOICE_RUN)
		return hash;
	for (i = 0; i < choice->n; i++)
		hash = mix(mix_text(hash, intents[choice->numbers[i]].call), choice->numbers[i]);
	return hash;
}

uint64_t fib_hash_schedule(uint64_t hash, uint64_t number)
{
	return mix(hash, number);
}
