/* SPDX-License-Identifier: MIT */
/* gc_find.h - look for a value in the root ranges */
#ifndef SYSTEM_GC_FIND_H
#define SYSTEM_GC_FIND_H

#include "tests/system/carriers.h"

#define KIND(kind) (1u << FIBER_GC_##kind)

struct gc_find {
	uintptr_t value;
	unsigned kinds, times;
};

__attribute__((no_sanitize("address", "thread"))) static inline int gc_look(
	const struct fiber_gc_range *range, void *arg)
{
	const volatile uintptr_t *at = range->low;
	struct gc_find *find = arg;

	for (; (const void *)(at + 1) <= range->high; at++) {
		if (*at != find->value)
			continue;
		find->kinds |= 1u << range->kind;
		find->times++;
	}
	return 0;
}

/* The kinds of ranges that have the value. The caller is a thread, whose stack is in no range. */
static inline unsigned gc_kinds_with(uintptr_t value)
{
	struct gc_find find = {value, 0, 0};

	assert_int_equal(fiber_gc_each_root_range(gc_look, &find), 0);
	return find.kinds;
}

/* The same while the carriers are stopped. */
static inline unsigned gc_kinds_with_stopped(uintptr_t value)
{
	unsigned kinds;

	assert_int_equal(fiber_gc_stop(FIBER_FOREVER), 0);
	kinds = gc_kinds_with(value);
	assert_int_equal(fiber_gc_go(), 0);
	return kinds;
}

/* Values that are in no register and in no memory before they are needed. */
static inline uintptr_t gc_value(unsigned i)
{
	return UINT64_C(0xa5a5000000000000) + (uintptr_t)i * UINT64_C(0x10001);
}

#endif
