/* SPDX-License-Identifier: MIT */
/* announce.h - a switch takes virtual time */
#ifndef FIB_CONTEXT_ANNOUNCE_H
#define FIB_CONTEXT_ANNOUNCE_H

#include <stdbool.h>
#include <stddef.h>

struct fib_announce {
};

void fib_model_switch(void);

/* The name of the sanitizer that is notified; NULL: none. */
static inline const char *fib_announce_name(void)
{
	return NULL;
}

/* Whether a context may start on the stack that another context is about to leave for good. */
static inline bool fib_announce_restarts(void)
{
	return true;
}

/* A context on [low, low + size) exists; low NULL: the thread's own stack. */
static inline void fib_announce_create(struct fib_announce *a, const void *low, size_t size)
{
	(void)a;
	(void)low;
	(void)size;
}

/* The context will never run again. Called on another stack. */
static inline void fib_announce_destroy(struct fib_announce *a)
{
	(void)a;
}

/* The frames left on [low, low + size) are dropped; the memory may be written again. */
static inline void fib_announce_clean(const void *low, size_t size)
{
	(void)low;
	(void)size;
}

/* Before the last switch out of from: to destroys from when it has arrived. */
static inline void fib_announce_bury(struct fib_announce *from, struct fib_announce *to)
{
	(void)from;
	(void)to;
}

/* For a suspended context: find the memory apart from its stack that holds variables of one of its
 * frames and that word points into. Returns its lowest byte and *ret_size, or NULL. */
static inline const void *fib_announce_aside(const struct fib_announce *a, void *word,
					     size_t *ret_size)
{
	(void)a;
	(void)word;
	(void)ret_size;
	return NULL;
}

/* Just before the switch. dying: from will never be resumed. */
static inline void fib_announce_leave(struct fib_announce *from, struct fib_announce *to,
				      bool dying)
{
	(void)from;
	(void)to;
	(void)dying;
	fib_model_switch();
}

/* Just after the switch, on the stack that was switched to. */
static inline void fib_announce_enter(struct fib_announce *self)
{
	(void)self;
}

#endif
