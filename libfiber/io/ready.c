/* SPDX-License-Identifier: MIT */
/*
 * ready.c - handle an event from the poller: count the edge and wake the waiters
 *
 * A fiber that waits to receive from an empty socket calls recv(2) as soon as it runs. That call is
 * made here on its behalf, before it runs. So one recv(2) follows another for all descriptors of a
 * batch, while the kernel's receive path is in the CPU's caches, and the work of the fibers does
 * not come in between.
 *
 * The fiber cannot proceed meanwhile: its wait is decided, and only this code makes it run. Under
 * the gate, which a close must pass first, the code checks that the number still means the
 * descriptor of the edge and of the wait. A later edge has another count: `drained` is recorded
 * with the count of this edge.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "io/descriptor.h"
#include "io/table.h"
#include "io/waiters.h"
#include "os/calls.h"
#include "os/spin.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define READ_EVENTS  (POLLIN | POLLPRI | POLLRDHUP | POLLERR | POLLHUP)
#define WRITE_EVENTS (POLLOUT | POLLERR | POLLHUP)

/* After these a reader that waits without trying could wait for ever. */
#define LAST_EVENTS (POLLPRI | POLLRDHUP | POLLERR | POLLHUP)

/*
 * label: descriptor.look -- a thread that sees the edge of a new generation sees that the poller
 * does not know the descriptor any more. Under the queue's lock.
 */
static inline uint32_t count_edge(struct fib_direction *side)
{
	const uint32_t edges = fib_load(&side->edges) + 1;

	fib_store_release(&side->edges, edges);
	return edges;
}

/*
 * Wake those of the first n waiters that the events concern. If some left meanwhile, later ones are
 * woken and look again.
 */
static fib_noinline void wake_rest(struct fiber_wait_queue *q, short events, uint32_t n)
{
	struct fib_wake wake;
	struct fib_waiter *w;

	while (n) {
		const uint32_t section = fib_queue_enter(q);

		w = fib_waiters_claim(q, section, events, &n, &wake);
		fib_queue_leave(q, section);
		if (w)
			fib_wake(&wake, true);
	}
}

void fib_descriptor_wake_side(struct fib_direction *side, short events)
{
	const uint32_t section = fib_queue_enter(&side->waiters);
	struct fib_wake wake;
	struct fib_waiter *w;
	uint32_t n;

	count_edge(side);
	n = fib_queue_length(&side->waiters);
	w = fib_waiters_claim(&side->waiters, section, events, &n, &wake);
	fib_queue_leave(&side->waiters, section);
	if (w)
		fib_wake(&wake, false);
	if (fib_unlikely(n))
		wake_rest(&side->waiters, events, n);
}

/*
 * Receive for a fiber whose wait has been decided. edges: the count that includes the edge for this
 * data.
 */
static inline void receive_for(struct fib_receiver *r, uint64_t token, struct fib_descriptor *d,
			       uint32_t edges)
{
	const int fd = (int)(uint32_t)token;

	fib_spin_lock(&d->gate);
	if (token == fib_descriptor_token(fd, d) && r->generation == token >> 32)
		r->n = fib_os_recv_now(fd, r->buf, r->size, MSG_DONTWAIT);
	fib_spin_unlock(&d->gate);
	if (r->n > 0 && (size_t)r->n < r->size)
		fib_store(&d->drained, FIB_DRAINED | edges);
}

static void wake_readers(uint64_t token, struct fib_descriptor *d, short events)
{
	struct fib_direction *side = &d->reading;
	const uint32_t section = fib_queue_enter(&side->waiters);
	struct fib_wake wake;
	struct fib_waiter *w;
	uint32_t n, edges;

	edges = count_edge(side);
	n = fib_queue_length(&side->waiters);
	w = fib_waiters_claim(&side->waiters, section, events, &n, &wake);
	fib_queue_leave(&side->waiters, section);
	if (w) {
		if (wake.fiber && w->receives)
			receive_for(fib_container(w, struct fib_receiver, waiter), token, d, edges);
		fib_wake(&wake, false);
	}
	if (fib_unlikely(n))
		wake_rest(&side->waiters, events, n);
}

void fib_descriptor_ready(uint64_t token, short events)
{
	int fd = (int)(uint32_t)token;
	struct fib_descriptor *d = fib_descriptor_find(fd);

	if (!d || token != fib_descriptor_token(fd, d))
		return;
	if (events & LAST_EVENTS)
		fib_store(&d->last, (uint8_t)1);
	if (events & READ_EVENTS)
		wake_readers(token, d, events);
	/* pairs: descriptor.writers */
	if (events & WRITE_EVENTS && fib_load(&d->writers))
		fib_descriptor_wake_side(&d->writing, FIB_EVERY_EVENT);
}
