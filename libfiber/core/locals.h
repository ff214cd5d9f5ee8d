/* SPDX-License-Identifier: MIT */
/*
 * locals.h - values that each fiber has of its own
 *
 * A fiber that sets none has no table. The table of one that does belongs to it alone: nobody else reads it.
 */
#ifndef FIB_CORE_LOCALS_H
#define FIB_CORE_LOCALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber/fiber.h>

#define FIB_KEY_BITS   10u /* of a key that say which slot; the others say how often it was used */
#define FIB_KEYS_MAX   (1u << FIB_KEY_BITS)
#define FIB_KEY_ROUNDS 4u /* of destructors */

struct fib_local {
	fiber_key_t key; /* 0: never set */
	void *value;
};

struct fib_locals {
	uint32_t count; /* slots in at[] */
	uint32_t next;	/* at the end: the slot whose destructor comes next */
	uint32_t round; /* at the end: how many rounds are over */
	bool again;	/* at the end: this round has destroyed something */
	struct fib_local at[];
};

/* What key holds; NULL when it holds nothing or is no key. */
static inline void *fib_locals_get(const struct fib_locals *locals, fiber_key_t key)
{
	uint32_t slot = key % FIB_KEYS_MAX;

	if (!locals || slot >= locals->count || locals->at[slot].key != key)
		return NULL;
	return locals->at[slot].value;
}

/* Make key hold value. *locals is made where it is needed. 0, -EINVAL for no key, -ENOMEM. */
int fib_locals_set(struct fib_locals **locals, fiber_key_t key, const void *value);

/* A table with the n values given, NULL in *ret for none of them. Errors as above, and nothing is left. */
int fib_locals_preset(const struct fiber_local *values, size_t n, struct fib_locals **ret);

/*
 * Take out the next value that has a destructor: true, and the caller calls (*ret_destroy)(*ret_value). False
 * when all are gone, or what destructors keep setting has been destroyed FIB_KEY_ROUNDS times.
 */
bool fib_locals_next(struct fib_locals *locals, void (**ret_destroy)(void *), void **ret_value);

/* Let go of the table; NULL is none. */
void fib_locals_free(struct fib_locals *locals);

#endif
