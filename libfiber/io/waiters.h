/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - which waiters an event of a descriptor wakes
 *
 * An edge wakes all waiters of its direction, and they try again. A waiter for urgent data, an end
 * or an error would try in vain while there is ordinary data that is not read. If each wait makes
 * the poller report again what is there, the waiter's own wait would wake it, for ever. So ordinary
 * data does not wake such a waiter. The events it waits for do, and so do the errors and hang-ups
 * that poll(2) reports to all.
 *
 * Waiters that an event does not concern move to the end of the queue. The waiters of a descriptor
 * have no order.
 */
#ifndef FIB_IO_WAITERS_H
#define FIB_IO_WAITERS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* Wakes every waiter. */
#define FIB_EVERY_EVENT ((short)-1)

/*
 * Whether events of the reading side wake w. A waiter for ordinary data, by any of its names, is
 * woken by all events.
 */
static inline bool fib_waiter_wants(const struct fib_waiter *w, short events)
{
	const short rare = POLLPRI | POLLRDHUP | POLLERR | POLLHUP;
	const short writing = POLLOUT | POLLWRNORM | POLLWRBAND;

	return w->events & ~(rare | writing) || events & (w->events | POLLERR | POLLHUP);
}

/*
 * After fib_queue_enter() returned `section`: claim the next waiter that the events concern, among
 * the first *n. Waiters before it move to the end. *n becomes the number left of the first *n.
 * Returns the waiter's node; *ret must be woken after fib_queue_leave(), and a node whose
 * ret->fiber is not NULL is valid until then. NULL: there is none, or its wait had been decided.
 */
static fib_always_inline struct fib_waiter *fib_waiters_claim(struct fiber_wait_queue *q,
							      uint32_t section, short events,
							      uint32_t *n, struct fib_wake *ret)
{
	struct fib_waiter *w;

	while (*n && (w = fib_queue_first(q))) {
		--*n;
		if (fib_likely(fib_waiter_wants(w, events)))
			return fib_queue_claim_first_in(q, section, ret) ? w : NULL;
		fib_queue_unlink(q, w);
		fib_queue_append(q, w);
	}
	*n = 0;
	return NULL;
}

#endif
