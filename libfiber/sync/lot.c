/* SPDX-License-Identifier: MIT */
/*
 * lot.c - wait for and wake by an address
 *
 * An object of another library has no room for a queue, and keeps its size. So the waiters of all
 * such objects are in a table of queues, by a hash of the address. This is the parking lot of WebKit
 * (F. Pizlo, "Locking in WebKit", 2016), which takes the idea from Linux' futex(2).
 *
 * label: lot.meet -- no wake-up is lost. A waiter counts itself in fiber_lot_waiters, takes the
 * queue's lock and calls still(), which reads the object. A waker changes the object first and then
 * reads the count. Both have a full barrier in between. So the waker finds the count above 0, or
 * still() finds the change. In the first case the waker takes the lock: it finds the waiter in the
 * queue, or the waiter gets the lock later and still() finds the change.
 *
 * A signal handler may wake (sem_post(3) may be called there). A plain thread may hold the lock of a
 * queue, or the scheduler's, for some instructions when its handler runs. Then all waiters of the lot
 * are woken after the unlock, and each finds out itself that it must wait again.
 */
#include "sync/lot.h"

#include <errno.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/tls.h"
#include "choice.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define QUEUES_LOG2 8u
#define QUEUES	    (1u << QUEUES_LOG2)

struct lot_queue {
	struct fiber_wait_queue waiters;
} fib_aligned(FIB_CACHE_LINE);

struct lot_waiter {
	struct fib_waiter waiter;
	const void *address;
	bool *handed;
};

static struct lot_queue lot[QUEUES];

_Atomic uint64_t fiber_lot_waiters;

/* Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4). */
static struct fiber_wait_queue *queue_of(const void *address)
{
	const uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);

	return &lot[hash >> (64 - QUEUES_LOG2)].waiters;
}

static void lock(struct fiber_wait_queue *q)
{
	fib_tls_enter();
	fib_queue_lock(q);
}

static void unlock(struct fiber_wait_queue *q)
{
	fib_queue_unlock(q);
	fib_tls_leave();
}

static bool joins(struct fiber_wait_queue *q, const struct fiber_lot_wait *wait,
		  struct lot_waiter *w)
{
	bool still;

	lock(q);
	/* pairs: lot.meet */
	fib_fence_seq();
	still = !wait->still || wait->still(wait->arg);
	if (still)
		fib_queue_append(q, &w->waiter);
	unlock(q);
	return still;
}

/* fib_queue_wait(), which takes the lock for a blocked waiter once more. */
static int wait_queued(struct fiber_wait_queue *q, struct fib_waiter *w, int64_t deadline)
{
	int rc;

	if (fib_wait_fast(w, deadline, &rc))
		return 0;
	if (rc < 0 || w->parker->blocks) {
		fib_tls_enter();
		fib_queue_forget(q, w);
		fib_tls_leave();
	}
	return rc;
}

static int wait_in(struct fiber_wait_queue *q, const struct fiber_lot_wait *wait, int64_t deadline)
{
	struct lot_waiter w = {.address = wait->address, .handed = wait->handed};
	int rc = wait->cancellable
			 ? fib_wait_begin(&w.waiter, wait->kind, wait->address, 0, deadline)
			 : fib_wait_begin_uncancellable(&w.waiter, wait->kind, wait->address, 0,
							deadline);

	if (rc < 0)
		return rc;
	if (!joins(q, wait, &w)) {
		fib_wait_abort(&w.waiter);
		return -EAGAIN;
	}
	if (wait->queued)
		wait->queued(wait->arg);
	return wait_queued(q, &w.waiter, deadline);
}

int fiber_lot_wait(const struct fiber_lot_wait *wait, int64_t deadline)
{
	int rc;

	fib_choice((void *)(uintptr_t)wait->address);
	fib_add(&fiber_lot_waiters, 1);
	rc = wait_in(queue_of(wait->address), wait, deadline);
	fib_sub(&fiber_lot_waiters, 1);
	return rc;
}

static bool claim_one(struct fib_waiter *w)
{
	/* A blocked waiter stays until fib_wake_all(), as in fib_queue_claim_next(). */
	return fib_order_wake_if(
		fib_parker_claim(w->parker, w->armed,
				 w->parker->blocks ? FIB_OUTCOME_CLAIMED : FIB_OUTCOME_WOKEN),
		w);
}

/*
 * Claim a waiter of the address (NULL: any) that is in the queue from w on. NULL: none is left.
 *
 * hands: it is handed what the caller has. A fiber that is about to park goes on as soon as it is
 * claimed, so it is told before. One whose wait has ended otherwise takes the queue's lock before it
 * returns.
 */
static struct fib_waiter *claim(struct fiber_wait_queue *q, struct fib_waiter *w,
				const void *address, bool hands, struct fib_waiter **ret_next)
{
	for (; w; w = *ret_next) {
		struct lot_waiter *const mine = fib_container(w, struct lot_waiter, waiter);

		*ret_next = fib_waiter_of(w->link.next);
		if (address && (mine->address != address || (hands && !mine->handed)))
			continue;
		fib_queue_unlink(q, w);
		if (hands)
			*mine->handed = true;
		if (claim_one(w))
			return w;
		if (hands)
			*mine->handed = false;
	}
	return NULL;
}

/* Claim waiters of the address; NULL: all. */
static size_t wake_in(struct fiber_wait_queue *q, const void *address, bool hands, size_t most)
{
	struct fib_wake_list list = {NULL, NULL};
	struct fib_waiter *w, *next;
	size_t woken = 0;

	lock(q);
	next = fib_queue_first(q);
	while (woken < most && (w = claim(q, next, address, hands, &next))) {
		fib_wake_list_append(&list, w);
		woken++;
	}
	unlock(q);
	fib_wake_all(&list);
	return woken;
}

static void wake_everybody(void)
{
	unsigned i;

	for (i = 0; i < QUEUES; i++)
		wake_in(&lot[i].waiters, NULL, false, SIZE_MAX);
}

size_t fiber_lot_wake(const void *address, size_t most)
{
	fib_choice((void *)(uintptr_t)address);
	/* pairs: lot.meet */
	fib_fence_seq();
	if (!fib_load(&fiber_lot_waiters))
		return 0;
	if (fib_tls_defer(wake_everybody))
		return 0;
	return wake_in(queue_of(address), address, false, most);
}

bool fiber_lot_hand(const void *address)
{
	fib_choice((void *)(uintptr_t)address);
	return fib_load(&fiber_lot_waiters) && !fib_tls_defer(wake_everybody) &&
	       wake_in(queue_of(address), address, true, 1) != 0;
}

void fib_lot_forget(void)
{
	memset(lot, 0, sizeof lot);
	fib_store(&fiber_lot_waiters, 0);
}
