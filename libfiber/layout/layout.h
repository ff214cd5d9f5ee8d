/* SPDX-License-Identifier: MIT */
/* layout.h - the registry's self-description (fiber_layout.h), and checks for its readers */
#ifndef FIB_LAYOUT_LAYOUT_H
#define FIB_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber_layout.h>

/*
 * The mark of a reader of a rwlock (FIB_READERS_*): a hash that differs for all fibers and threads
 * whose ids are not 2^31 apart.
 */
static inline uint32_t fib_readers_mark(uint64_t who)
{
	const bool thread = who & FIB_HOLDER_THREAD;

	return ((uint32_t)who << 1 | thread) * FIB_READERS_FACTOR;
}

/* Return whether the registry that was read has field id, with the size that this reader knows. */
bool fib_layout_has(const struct fib_layout *layout, enum fib_layout_field_id id, size_t size);

/*
 * Return whether there is code of the library at pc, which is not a return address but an address
 * inside an instruction. False for every pc if the registry does not publish where its code is.
 */
bool fib_layout_is_internal(const struct fib_layout *layout, uint64_t pc);

/* Return whether the registry publishes where the library's code is. */
bool fib_layout_has_code(const struct fib_layout *layout);

/*
 * Check a registry that was read from untrusted memory: magic, version, sizes, every offset inside
 * the record, names terminated. The caller has zeroed the struct behind layout->size. Returns NULL
 * when it can be used, else the error as a constant string.
 */
const char *fib_layout_check(const struct fib_layout *layout);

#endif
