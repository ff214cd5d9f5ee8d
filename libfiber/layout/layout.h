/* SPDX-License-Identifier: MIT */
/* layout.h - the registry's self-description (fiber_layout.h), and what readers do with one. */
#ifndef FIB_LAYOUT_LAYOUT_H
#define FIB_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber_layout.h>

/* True when the registry that was read carries field id, of the size this reader knows. */
bool fib_layout_has(const struct fib_layout *layout, enum fib_layout_field_id id, size_t size);

/*
 * Check what was read from memory that may be anything: magic, version, sizes, every offset inside
 * the record, names terminated. Behind layout->size it is zeroed. NULL when it can be used, else what is wrong, a
 * constant string.
 */
const char *fib_layout_check(const struct fib_layout *layout);

#endif
