/* SPDX-License-Identifier: MIT */
/* announce.h - AddressSanitizer: which stack is the current one, and which parts of it may be
 * accessed */
#ifndef FIB_CONTEXT_ANNOUNCE_H
#define FIB_CONTEXT_ANNOUNCE_H

#include <stdbool.h>
#include <stddef.h>

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

struct fib_announce {
	void *fake;	 /* ASan's fake stack of a suspended context */
	const void *low; /* a thread's own stack: learnt when it is first left */
	size_t size;
	struct fib_announce *came_from;
	const void *dead_low; /* stack of a context that ended by switching to us, to be cleaned */
	size_t dead_size;
};

static inline const char *fib_announce_name(void)
{
	return "AddressSanitizer";
}

/* The stack of an ending context is cleaned after it was left, so no other context may start on it
 * before. */
static inline bool fib_announce_restarts(void)
{
	return false;
}

static inline void fib_announce_create(struct fib_announce *a, const void *low, size_t size)
{
	a->fake = NULL;
	a->low = low;
	a->size = size;
	a->came_from = NULL;
	a->dead_low = NULL;
}

/* The context was left in the middle of its frames, and the pool writes into the free stack. */
static inline void fib_announce_clean(const void *low, size_t size)
{
	__asan_unpoison_memory_region(low, size);
}

static inline void fib_announce_destroy(struct fib_announce *a)
{
	if (a->low)
		fib_announce_clean(a->low, a->size);
}

static inline void fib_announce_bury(struct fib_announce *from, struct fib_announce *to)
{
	to->dead_low = from->low;
	to->dead_size = from->size;
	from->low = NULL;
}

static inline const void *fib_announce_aside(const struct fib_announce *a, void *word,
					     size_t *ret_size)
{
	void *low, *end;

	if (!a->fake || !__asan_addr_is_in_fake_stack(a->fake, word, &low, &end))
		return NULL;
	*ret_size = (size_t)((char *)end - (char *)low);
	return low;
}

static inline void fib_announce_leave(struct fib_announce *from, struct fib_announce *to,
				      bool dying)
{
	to->came_from = dying ? NULL : from;
	__sanitizer_start_switch_fiber(dying ? NULL : &from->fake, to->low, to->size);
}

static inline void fib_announce_enter(struct fib_announce *self)
{
	const void *low;
	size_t size;

	__sanitizer_finish_switch_fiber(self->fake, &low, &size);
	/* The bounds of the context that was left: the only way to learn a thread's own stack. */
	if (self->came_from && !self->came_from->low) {
		self->came_from->low = low;
		self->came_from->size = size;
	}
	if (self->dead_low)
		fib_announce_clean(self->dead_low, self->dead_size);
	self->dead_low = NULL;
}

#endif
