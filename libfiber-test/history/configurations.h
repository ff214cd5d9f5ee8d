/* SPDX-License-Identifier: MIT */
/*
 * configurations.h - a set of byte strings, each with a mark
 *
 * The search enters every configuration that it reaches, and marks those that lead nowhere.
 */
#ifndef FIB_TEST_CONFIGURATIONS_H
#define FIB_TEST_CONFIGURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fib_configurations {
	unsigned char *bytes; /* records, one after another */
	size_t used, room, room_max;
	size_t *table; /* open addressing: 1 + the offset of a record; 0: free */
	size_t slots;  /* a power of two */
	size_t count, count_max;
};

/* Make an empty set with limits. Returns 0 or -ENOMEM. */
int fib_configurations_init(struct fib_configurations *set, size_t count_max, size_t bytes_max);
void fib_configurations_free(struct fib_configurations *set);

/*
 * Find or add a string; size is a multiple of 8. *ret is its record, valid until the set is freed.
 * Returns 0, or -ENOMEM: no memory, or a limit of the set.
 */
int fib_configurations_add(struct fib_configurations *set, const void *key, size_t size,
			   size_t *ret);

/* The string of a record; valid until the next addition. */
const unsigned char *fib_configurations_key(const struct fib_configurations *set, size_t record);

/* The mark of a record; false at first. */
bool fib_configurations_is_dead(const struct fib_configurations *set, size_t record);
void fib_configurations_bury(struct fib_configurations *set, size_t record);

#endif
