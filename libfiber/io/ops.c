/* SPDX-License-Identifier: MIT */
/*
 * ops.c - the operations of a scheduler that are in progress
 *
 * They are in a ring: the poller's, if the poller is one, else a ring that is opened for the first
 * operation and whose descriptor the poller watches like any other. All are in a list, so that a
 * runtime that finishes can cancel them.
 *
 * A caller may leave an operation (fib_ops_leave) at the moment when it ends. The lock of the list
 * decides which comes first. An operation that was left is freed at its end, after it was removed
 * from the list. So the address of an operation in the list is not reused, and the kernel can be
 * asked to cancel it.
 */
#include "io/ops.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "io/op.h"
#include "os/spin.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define TAKEN 32

/* One per scheduler. I set before it is published · L under ->lock */
struct fib_ops {
	struct fib_ring *ring; /* I */
	bool own;	       /* I: not the poller's */
	_Atomic uint32_t lock;
	struct fib_list under_way; /* L: struct fiber_op.link */
	unsigned count;		   /* L: length of under_way */
	bool finishing;		   /* L: fib_op_finish() waits until the list is empty */
	struct fiber_event drained;
};

/*
 * Make the poller report when the ring has a completion: from now on, or only the next time
 * (ops->want).
 */
static int watch(struct fib_sched *s, struct fib_ring *ring)
{
	struct fib_poller *p = s->poller;
	int fd = fib_ring_descriptor(ring);

	return p->ops->want ? p->ops->want(p, fd, FIB_OP_RING, POLLIN)
			    : p->ops->watch(p, fd, FIB_OP_RING);
}

static int open_ring(struct fib_sched *s, struct fib_ops *o)
{
	int rc;

	o->own = !s->poller->ops->ring;
	if (!o->own) {
		o->ring = s->poller->ops->ring(s->poller);
		return 0;
	}
	rc = fib_ring_open(&o->ring);
	if (rc < 0)
		return rc;
	rc = watch(s, o->ring);
	if (rc < 0)
		fib_ring_close(o->ring);
	return rc;
}

static void close_ops(struct fib_sched *s, struct fib_ops *o)
{
	if (o->own) {
		s->poller->ops->forget(s->poller, fib_ring_descriptor(o->ring));
		fib_ring_close(o->ring);
	}
	free(o);
}

int fib_ops_of(struct fib_sched *s, struct fib_ops **ret)
{
	void *none = NULL;
	struct fib_ops *o = fib_load_acquire(&s->ops); /* pairs: op.ops */
	int rc;

	*ret = o;
	if (o)
		return 0;
	o = calloc(1, sizeof *o);
	if (!o)
		return -ENOMEM;
	fib_list_init(&o->under_way);
	rc = open_ring(s, o);
	if (rc < 0) {
		free(o);
		return rc;
	}
	fib_store(&s->watching, 1);
	/* label: op.ops -- a thread that sees the pointer sees the contents. */
	if (!fib_cas(&s->ops, &none, o)) {
		close_ops(s, o);
		o = none;
	}
	*ret = o;
	return 0;
}

static void enlist(struct fib_ops *o, struct fiber_op *op)
{
	fib_spin_lock(&o->lock);
	fib_list_append(&o->under_way, &op->link);
	o->count++;
	fib_spin_unlock(&o->lock);
}

/* Under the lock. True: the list is now empty, and fib_op_finish() waits for that. */
static bool remove_from(struct fib_ops *o, struct fiber_op *op)
{
	fib_list_remove(&op->link);
	return --o->count == 0 && o->finishing;
}

static void unlist(struct fib_ops *o, struct fiber_op *op)
{
	bool last;

	fib_spin_lock(&o->lock);
	last = remove_from(o, op);
	fib_spin_unlock(&o->lock);
	if (last)
		fiber_event_set(&o->drained);
}

/* True: a caller waits for the end of op, and op is out of the list. */
static bool is_awaited(struct fib_ops *o, struct fiber_op *op)
{
	bool awaited, last = false;

	fib_spin_lock(&o->lock);
	awaited = !op->detached;
	op->ending = awaited;
	if (awaited)
		last = remove_from(o, op);
	fib_spin_unlock(&o->lock);
	if (last)
		fiber_event_set(&o->drained);
	return awaited;
}

/* The kernel has finished op. Runs on a carrier of its scheduler, which outlives this. */
static void end(struct fiber_op *op)
{
	struct fib_ops *o = op->ops;
	struct fib_wake wake;
	bool claimed = false;

	if (!is_awaited(o, op)) {
		if (op->free_fn)
			op->free_fn(op->arg, op->base.result);
		unlist(o, op);
		free(op);
		return;
	}
	fib_queue_lock(&op->waiters);
	op->done = true;
	while (!claimed && fib_queue_first(&op->waiters))
		claimed = fib_queue_claim_first(&op->waiters, &wake);
	fib_queue_unlock(&op->waiters);
	/* From here on the caller that waits may have freed op. */
	if (claimed)
		fib_wake(&wake, false);
}

void fib_op_ended(uint64_t token)
{
	struct fib_ring_op *base = (struct fib_ring_op *)(uintptr_t)token;

	end(fib_container(base, struct fiber_op, base));
}

void fib_op_reap(void)
{
	struct fib_sched *s = fib_carrier_self()->sched;
	struct fib_ops *o = fib_load_acquire(&s->ops); /* pairs: op.ops */
	struct fib_ring_op *ended[TAKEN];
	int i, n;

	/* o may have lost the race to be published and been closed; it held no operations. */
	if (!o || !o->own)
		return;
	/*
	 * Before taking, so that later completions are reported. Else opening the ring has set up
	 * the watch.
	 */
	if (s->poller->ops->want)
		watch(s, o->ring);
	do {
		n = fib_ring_take(o->ring, ended, TAKEN);
		for (i = 0; i < n; i++)
			end(fib_container(ended[i], struct fiber_op, base));
	} while (n);
}

int fib_ops_begin(struct fib_ops *o, struct fiber_op *op)
{
	int rc;

	op->ops = o;
	enlist(o, op);
	rc = fib_ring_begin(o->ring, (const struct io_uring_sqe *)op->entry, &op->base);
	if (rc < 0)
		unlist(o, op);
	return rc;
}

void fib_ops_cancel(struct fiber_op *op)
{
	fib_ring_cancel(op->ops->ring, &op->base);
}

bool fib_ops_leave(struct fiber_op *op, void (*free_fn)(void *arg, int result), void *arg)
{
	struct fib_ops *o = op->ops;
	bool left;

	fib_spin_lock(&o->lock);
	left = !op->ending;
	if (left) {
		op->detached = true;
		op->free_fn = free_fn;
		op->arg = arg;
		fib_ring_cancel(o->ring, &op->base);
	}
	fib_spin_unlock(&o->lock);
	return left;
}

int fib_op_finish(struct fib_sched *s, int64_t deadline)
{
	struct fib_ops *o = fib_load_acquire(&s->ops); /* pairs: op.ops */
	struct fib_list *at;
	unsigned left;
	int rc;

	for (;;) {
		if (!o)
			return 0;
		fib_spin_lock(&o->lock);
		left = o->count;
		o->finishing = true;
		fiber_event_reset(&o->drained);
		for (at = o->under_way.next; at != &o->under_way; at = at->next)
			fib_ring_cancel(o->ring, &fib_container(at, struct fiber_op, link)->base);
		fib_spin_unlock(&o->lock);
		if (!left)
			return 0;
		rc = fiber_event_wait(&o->drained, deadline);
		if (rc < 0)
			return rc;
	}
}

void fib_op_release(struct fib_sched *s)
{
	struct fib_ops *o = fib_load(&s->ops);

	if (o && o->own)
		fib_ring_close(o->ring);
	free(o);
}

void fib_ops_lock(struct fib_sched *s)
{
	struct fib_ops *o = fib_load_acquire(&s->ops); /* pairs: op.ops */

	if (o)
		fib_spin_lock(&o->lock);
}

bool fib_ops_try(struct fib_sched *s)
{
	struct fib_ops *o = fib_load_acquire(&s->ops); /* pairs: op.ops */

	return !o || fib_spin_try(&o->lock);
}

void fib_ops_unlock(struct fib_sched *s)
{
	struct fib_ops *o = fib_load(&s->ops);

	if (o)
		fib_spin_unlock(&o->lock);
}

int fib_ops_each(struct fib_sched *s, int (*fn)(const void *low, const void *high, void *arg),
		 void *arg)
{
	struct fib_ops *o = fib_load_acquire(&s->ops); /* pairs: op.ops */
	struct fib_list *at;
	int rc = 0;

	if (!o)
		return 0;
	for (at = o->under_way.next; at != &o->under_way && rc == 0; at = at->next) {
		const struct fiber_op *op = fib_container(at, struct fiber_op, link);

		rc = fn(op, op + 1, arg);
	}
	return rc;
}
