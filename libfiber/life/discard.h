/* SPDX-License-Identifier: MIT */
/* discard.h - free the parts of a fiber */
#ifndef FIB_LIFE_DISCARD_H
#define FIB_LIFE_DISCARD_H

#include "core/hazard.h"
#include "core/labels.h"
#include "core/record_cache.h"
#include "sched/sched.h"

/* Destroy a fiber that was created and never submitted. */
void fib_unmake(struct fiber *fiber);

/* The record cache of the calling carrier c; c may be NULL. */
static inline struct fib_record_cache *fib_records_of(struct fib_carrier *c)
{
	return c ? &c->records : NULL;
}

/* Free the record of a fiber that is no longer used. c: the calling carrier, or NULL. */
static inline void fib_free_record(struct fib_carrier *c, struct fiber *fiber)
{
	fib_store(&fiber->state, (uint8_t)FIBER_DEAD);
	fib_publish(&fiber->id, 0);
	if (fib_unlikely(fiber->labels != NULL))
		fib_labels_drop(&fiber->labels);
	if (!fib_hazard_keeps(fiber))
		fib_record_give(fib_records_of(c), fiber);
}

/*
 * Give back the stack of a fiber that does not start, or its promise of one. c: the calling
 * carrier, or NULL.
 */
void fib_withdraw_stack(struct fib_carrier *c, struct fiber *fiber);

/*
 * Drop its values without their destructors: the fiber has not run, so the values are still its
 * creator's.
 */
void fib_drop_locals(struct fiber *fiber);

#endif
