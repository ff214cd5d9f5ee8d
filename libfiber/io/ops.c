/* SPDX-License-Identifier: MIT */
/*
 * ops.c - the operations of a scheduler that are under way
 *
 * They are in a ring: the poller's, if it is one, else one that is opened for the first operation and whose descriptor
 * the poller watches like any other. All of them are in a list, so that a runtime that finishes can have them cancelled.
 *
 * Whoever awaits an operation may leave it (fib_ops_leave), and the kernel may be through with it at the same moment. Who was
 * first is decided under the lock of the list. An operation that was left is freed by its end, and not before it is out of
 * the list: so as long as it is there, its address is no other operation's, and the kernel can be asked to cancel it.
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

/* A scheduler's. I set before it is published · L under ->lock */
struct fib_ops {
	struct fib_ring *ring; /* I */
	bool own;	       /* I: not the poller's */
	_Atomic uint32_t lock;
	struct fib_list under_way; /* L: struct fiber_op.link */
	unsigned count;		   /* L: how many that are */
	bool finishing;		   /* L: somebody waits until there is none */
	struct fiber_event drained;
};

/* Have the poller tell when something is in the ring: from now on, or the next time. */
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
	/* label: op.ops -- whoever sees it sees what is in it. */
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

/* Under the lock. True: it was the last, and somebody waits for that. */
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

/* True: somebody awaits the end of op, and it is out of the list. */
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

/* The kernel is through with op. On a carrier of its scheduler, which outlives this. */
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
	/* From here on whoever awaits it may have released it. */
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

	/* Of one that came second and was closed: nothing was begun in it. */
	if (!o || !o->own)
		return;
	/* Before the look: what comes after it is told. That it is watched was seen to when it was opened. */
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
