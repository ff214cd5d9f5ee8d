/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - whom an event of a descriptor wakes
 *
 * An edge wakes all who wait in its direction, and they look. Whoever waits for urgent data, an end or an error would look
 * in vain as long as there is ordinary data that nobody reads. And where each wait has the poller tell once more what is
 * there, he would be woken by what his own wait has brought up, for ever. So ordinary data is not for him:
 * he is woken by what he waits for, and by the errors and hang-ups that poll(2) tells everybody.
 *
 * Those whom an event is not for step back behind the others. There is no order among those who wait for a descriptor.
 */
#ifndef FIB_IO_WAITERS_H
#define FIB_IO_WAITERS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* For everybody. */
#define FIB_EVERY_EVENT ((short)-1)

/* Whether events of the reading side are for w. Whoever waits for ordinary data, by whichever of its names, hears of all. */
static inline bool fib_waiter_wants(const struct fib_waiter *w, short events)
{
	const short rare = POLLPRI | POLLRDHUP | POLLERR | POLLHUP;
	const short writing = POLLOUT | POLLWRNORM | POLLWRBAND;

	return w->events & ~(rare | writing) || events & (w->events | POLLERR | POLLHUP);
}

/* Under the lock: decide the wait of the next whom the events are for, of the *n that stand first. The others before him step
 * back; *n: how many are left of those that stood behind him. Returns his node, and *ret must be woken after the unlock; until
 * then it is there. NULL: there is none, or his wait had been decided. */
static inline struct fib_waiter *fib_waiters_claim(struct fiber_wait_queue *q, short events,
						   uint32_t *n, struct fib_wake *ret)
{
	struct fib_waiter *w;

	while (*n && (w = fib_queue_first(q))) {
		--*n;
		if (fib_likely(fib_waiter_wants(w, events)))
			return fib_queue_claim_first(q, ret) ? w : NULL;
		fib_queue_unlink(q, w);
		fib_queue_append(q, w);
	}
	*n = 0;
	return NULL;
}

/* Wake those of the first n whom the events are for. When some have left meanwhile some who came later are woken, and look. */
static inline void fib_waiters_wake(struct fiber_wait_queue *q, short events, uint32_t n)
{
	struct fib_wake wake;
	struct fib_waiter *w;

	while (fib_unlikely(n)) {
		fib_queue_lock(q);
		w = fib_waiters_claim(q, events, &n, &wake);
		fib_queue_unlock(q);
		if (w)
			fib_wake(&wake, true);
	}
}

#endif
