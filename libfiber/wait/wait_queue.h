/* SPDX-License-Identifier: MIT */
/* wait_queue.h - waiters of one object, first in, first out; see wait_queue.c */
#ifndef FIB_WAIT_WAIT_QUEUE_H
#define FIB_WAIT_WAIT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/sync.h>

#include "order.h"
#include "core/sole.h"
#include "wait/wait.h"
#include "wait/wake.h"

static inline void fib_queue_lock(struct fiber_wait_queue *q)
{
	fib_sole_check();
	fib_spin_lock(&q->lock);
}

static inline void fib_queue_unlock(struct fiber_wait_queue *q)
{
	fib_spin_unlock(&q->lock);
}

/*
 * Lock for a few instructions that no switch, wait or system call interrupts. Returns what
 * fib_queue_leave() takes: the section of sole.h, if no lock is needed.
 */
static inline uint32_t fib_queue_enter(struct fiber_wait_queue *q)
{
	return fib_sole_lock(&q->lock);
}

static inline void fib_queue_leave(struct fiber_wait_queue *q, uint32_t section)
{
	fib_sole_unlock(&q->lock, section);
}

/* Returns whether the queue has waiters. Without the lock the answer may be out of date. */
static inline bool fib_queue_occupied(const struct fiber_wait_queue *q)
{
	return fib_load(&q->head) != NULL;
}

/* Under the lock: */

static inline struct fib_waiter *fib_waiter_of(void *link)
{
	return link ? fib_container(link, struct fib_waiter, link) : NULL;
}

static inline void fib_queue_append(struct fiber_wait_queue *q, struct fib_waiter *w)
{
	struct fib_list *last = q->tail;

	w->link.next = NULL;
	w->link.prev = last;
	w->linked = true;
	if (last)
		last->next = &w->link;
	else
		fib_store(&q->head, &w->link);
	q->tail = &w->link;
}

static inline void fib_queue_unlink(struct fiber_wait_queue *q, struct fib_waiter *w)
{
	if (w->link.prev)
		w->link.prev->next = w->link.next;
	else
		fib_store(&q->head, w->link.next);
	if (w->link.next)
		w->link.next->prev = w->link.prev;
	else
		q->tail = w->link.prev;
	w->linked = false;
}

/* NULL when empty. */
static inline struct fib_waiter *fib_queue_first(struct fiber_wait_queue *q)
{
	return fib_waiter_of(fib_load(&q->head));
}

/* Returns whether the queue has two waiters or more. */
static inline bool fib_queue_has_several(const struct fiber_wait_queue *q)
{
	return fib_load(&q->head) != q->tail;
}

/* Count the waiters, by walking the queue. */
static inline uint32_t fib_queue_length(const struct fiber_wait_queue *q)
{
	const struct fib_list *link;
	uint32_t length = 0;

	for (link = fib_load(&q->head); link; link = link->next)
		length++;
	return length;
}

/* Unlink the first waiter. Returns it; *ret: whom to wake once its wait is claimed. */
static inline struct fib_waiter *fib_queue_take_first(struct fiber_wait_queue *q,
						      struct fib_wake *ret)
{
	struct fib_waiter *w = fib_queue_first(q);
	struct fib_parker *parker = w->parker;
	struct fib_list *second = w->link.next;

	fib_store(&q->head, second);
	if (second)
		second->prev = NULL;
	else
		q->tail = NULL;
	w->linked = false;
	ret->fiber = parker->blocks ? NULL : parker->fiber;
	ret->word = &parker->word;
	return w;
}

/*
 * Unlink the first waiter and try to claim its wait. True: the caller must wake *ret after the
 * unlock.
 */
static inline bool fib_queue_claim_first(struct fiber_wait_queue *q, struct fib_wake *ret)
{
	struct fib_waiter *w = fib_queue_take_first(q, ret);

	return fib_order_wake_if(fib_parker_claim(w->parker, w->armed, FIB_OUTCOME_WOKEN), w);
}

/* The same after fib_queue_enter() or fib_sole_lock() returned `section`. */
static inline bool fib_queue_claim_first_in(struct fiber_wait_queue *q, uint32_t section,
					    struct fib_wake *ret)
{
	struct fib_waiter *w = fib_queue_take_first(q, ret);

	return fib_order_wake_if(
		fib_parker_claim_in(section, w->parker, w->armed, FIB_OUTCOME_WOKEN), w);
}

/* Waiters claimed under one hold of the lock, linked by their nodes. Initialize to {NULL, NULL}. */
struct fib_wake_list {
	struct fib_waiter *first, *last;
};

static inline void fib_wake_list_append(struct fib_wake_list *list, struct fib_waiter *w)
{
	w->link.next = NULL;
	if (list->last)
		list->last->link.next = &w->link;
	else
		list->first = w;
	list->last = w;
}

/*
 * Unlink the first waiter and try to claim its wait. True: it is in list, and stays until
 * fib_wake_all().
 */
bool fib_queue_claim_next(struct fiber_wait_queue *q, struct fib_wake_list *list);
/* fib_queue_claim_next() for all waiters. */
void fib_queue_claim_all(struct fiber_wait_queue *q, struct fib_wake_list *list);

/*
 * After the unlock: wake all of list in the order of the claims. Does not touch their queue, which
 * any of them may free.
 */
void fib_wake_all(struct fib_wake_list *list);

/*
 * Unlink w if it is still linked. Under the lock; fib_queue_forget() takes the lock. By the waiter
 * itself.
 */
void fib_queue_remove(struct fiber_wait_queue *q, struct fib_waiter *w);
void fib_queue_forget(struct fiber_wait_queue *q, struct fib_waiter *w);

/* fib_wait() in q. After it w is in no queue, and its waker does not touch q any more. */
static fib_always_inline int fib_queue_wait(struct fiber_wait_queue *q, struct fib_waiter *w,
					    int64_t deadline);

/* Claim the first waiter that can be claimed and wake it. Takes the lock. False: there is none. */
bool fib_queue_wake_one(struct fiber_wait_queue *q);

/* The same after fib_queue_enter() returned `section`, which it leaves. */
bool fib_queue_wake_one_in(struct fiber_wait_queue *q, uint32_t section);

static fib_always_inline int fib_queue_wait(struct fiber_wait_queue *q, struct fib_waiter *w,
					    int64_t deadline)
{
	int rc;

	/*
	 * A woken fiber runs after the unlock. A blocked waiter may see its wait decided while its
	 * waker still holds the lock, and might free the memory of the lock: so it takes the lock
	 * once more.
	 */
	if (fib_likely(fib_wait_fast(w, deadline, &rc)))
		return 0;
	if (rc < 0 || w->parker->blocks)
		fib_queue_forget(q, w);
	return rc;
}

#endif
