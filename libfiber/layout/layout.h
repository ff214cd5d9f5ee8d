/* SPDX-License-Identifier: MIT */
/* layout.h - the registry's self-description (fiber_layout.h), and checks for its readers */
#ifndef FIB_LAYOUT_LAYOUT_H
#define FIB_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber_layout.h>

/* Return whether the registry that was read has field id, with the size that this reader knows. */
bool fib_layout_has(const struct fib_layout *layout, enum fib_layout_field_id id, size_t size);

/*
 * Check a registry that was read from untrusted memory: magic, version, sizes, every offset inside
 * the record, names terminated. The caller has zeroed the struct behind layout->size. Returns NULL
 * when it can be used, else the error as a constant string.
 */
const char *fib_layout_check(const struct fib_layout *layout);

#endif
