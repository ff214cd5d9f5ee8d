/* SPDX-License-Identifier: MIT */
/* announce.h - ThreadSanitizer: which history the next accesses belong to */
#ifndef FIB_CONTEXT_ANNOUNCE_H
#define FIB_CONTEXT_ANNOUNCE_H

#include <stdbool.h>
#include <stddef.h>

#include <sanitizer/tsan_interface.h>

struct fib_announce {
	void *fiber; /* TSan's object */
	int owned;
	void *dead; /* of a context that ended by switching to us; destroyed on our stack */
};

static inline const char *fib_announce_name(void)
{
	return "ThreadSanitizer";
}

/* Each context needs its own history. */
static inline bool fib_announce_restarts(void)
{
	return false;
}

static inline void fib_announce_create(struct fib_announce *a, const void *low, size_t size)
{
	(void)size;
	a->owned = low != NULL;
	a->dead = NULL;
	a->fiber = low ? __tsan_create_fiber(0) : __tsan_get_current_fiber();
}

static inline void fib_announce_destroy(struct fib_announce *a)
{
	if (a->owned)
		__tsan_destroy_fiber(a->fiber);
	a->owned = 0;
	a->fiber = NULL;
}

static inline void fib_announce_clean(const void *low, size_t size)
{
	(void)low;
	(void)size;
}

static inline void fib_announce_bury(struct fib_announce *from, struct fib_announce *to)
{
	to->dead = from->owned ? from->fiber : NULL;
	from->owned = 0;
}

static inline const void *fib_announce_aside(const struct fib_announce *a, void *word,
					     size_t *ret_size)
{
	(void)a;
	(void)word;
	(void)ret_size;
	return NULL;
}

/* Flag 0: a switch synchronises, because the carrier that leaves and the fiber that continues are
 * one thread of execution. */
static inline void fib_announce_leave(struct fib_announce *from, struct fib_announce *to,
				      bool dying)
{
	(void)from;
	(void)dying;
	__tsan_switch_to_fiber(to->fiber, 0);
}

static inline void fib_announce_enter(struct fib_announce *self)
{
	if (self->dead)
		__tsan_destroy_fiber(self->dead);
	self->dead = NULL;
}

#endif
