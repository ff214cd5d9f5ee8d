/* SPDX-License-Identifier: MIT */
/*
 * locals.h - fiber-local values
 *
 * A fiber that sets none has no table. Only the fiber itself reads and writes its table.
 */
#ifndef FIB_CORE_LOCALS_H
#define FIB_CORE_LOCALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber/fiber.h>

#define FIB_KEY_BITS   10u /* bits of a key for the slot; the others count its uses */
#define FIB_KEYS_MAX   (1u << FIB_KEY_BITS)
#define FIB_KEY_ROUNDS 4u /* of destructors */

struct fib_local {
	fiber_key_t key; /* 0: never set */
	void *value;
};

struct fib_locals {
	uint32_t count; /* slots in at[] */
	uint32_t next;	/* at exit: the slot whose destructor is next */
	uint32_t round; /* at exit: number of finished rounds */
	bool again;	/* at exit: this round has destroyed something */
	struct fib_local at[];
};

/* The value of key; NULL if it has none or the key is invalid. */
static inline void *fib_locals_get(const struct fib_locals *locals, fiber_key_t key)
{
	uint32_t slot = key % FIB_KEYS_MAX;

	if (!locals || slot >= locals->count || locals->at[slot].key != key)
		return NULL;
	return locals->at[slot].value;
}

/* Set the value of key. *locals is allocated if needed. Returns 0, -EINVAL for an invalid key,
 * -ENOMEM. */
int fib_locals_set(struct fib_locals **locals, fiber_key_t key, const void *value);

/* Make a table with the n values given; NULL in *ret for none. Returns the errors above; then
 * nothing is allocated. */
int fib_locals_preset(const struct fiber_local *values, size_t n, struct fib_locals **ret);

/*
 * Take out the next value that has a destructor and return true: the caller calls
 * (*ret_destroy)(*ret_value). Returns false when none is left, or when values that destructors set
 * have been destroyed in FIB_KEY_ROUNDS rounds.
 */
bool fib_locals_next(struct fib_locals *locals, void (**ret_destroy)(void *), void **ret_value);

/* Free the table; NULL is allowed. */
void fib_locals_free(struct fib_locals *locals);

#endif
