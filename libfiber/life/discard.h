/* SPDX-License-Identifier: MIT */
/* discard.h - giving back what a fiber was made of. */
#ifndef FIB_LIFE_DISCARD_H
#define FIB_LIFE_DISCARD_H

#include "core/record_cache.h"
#include "sched/sched.h"

/* Take apart a fiber that was made and never submitted. */
void fib_unmake(struct fiber *fiber);

/* Give back the record of a fiber that nobody needs. c: the calling carrier, or NULL. */
void fib_free_record(struct fib_carrier *c, struct fiber *fiber);

/* The records that the calling carrier c has at hand; c may be NULL. */
static inline struct fib_record_cache *fib_records_of(struct fib_carrier *c)
{
	return c ? &c->records : NULL;
}

/* The stack of a fiber that does not begin, or the promise of one. c: the calling carrier, or NULL. */
void fib_withdraw_stack(struct fib_carrier *c, struct fiber *fiber);

/* Its values, without their destructors: the fiber has not run, and they are still its maker's. */
void fib_drop_locals(struct fiber *fiber);

#endif
