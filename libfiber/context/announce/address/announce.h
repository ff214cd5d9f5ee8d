/* SPDX-License-Identifier: MIT */
/* announce.h - AddressSanitizer: which stack is the current one, and what on it may be touched. */
#ifndef FIB_CONTEXT_ANNOUNCE_H
#define FIB_CONTEXT_ANNOUNCE_H

#include <stddef.h>

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

struct fib_announce {
	void *fake;	 /* ASan's fake stack of a suspended context */
	const void *low; /* of the thread's own stack: learnt when it is first left */
	size_t size;
	struct fib_announce *came_from;
};

static inline void fib_announce_create(struct fib_announce *a, const void *low, size_t size)
{
	a->fake = NULL;
	a->low = low;
	a->size = size;
	a->came_from = NULL;
}

/* It was left in the middle of its frames, and the pool writes into the free stack. */
static inline void fib_announce_clean(const void *low, size_t size)
{
	__asan_unpoison_memory_region(low, size);
}

static inline void fib_announce_destroy(struct fib_announce *a)
{
	if (a->low)
		fib_announce_clean(a->low, a->size);
}

static inline void fib_announce_leave(struct fib_announce *from, struct fib_announce *to, int dying)
{
	to->came_from = from;
	__sanitizer_start_switch_fiber(dying ? NULL : &from->fake, to->low, to->size);
}

static inline void fib_announce_enter(struct fib_announce *self)
{
	const void *low;
	size_t size;

	__sanitizer_finish_switch_fiber(self->fake, &low, &size);
	/* The bounds of whoever was left: the only way to learn a thread's own. */
	if (self->came_from && !self->came_from->low) {
		self->came_from->low = low;
		self->came_from->size = size;
	}
}

#endif
