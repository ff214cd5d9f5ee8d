/* SPDX-License-Identifier: MIT */
/*
 * op.c - operations of the program's own
 *
 * An operation is under way in a ring of the scheduler's: the poller's, if it is one, else a ring that is opened for the
 * first operation and whose descriptor the poller watches like any other.
 *
 * The danger is memory. The kernel writes into a buffer whenever it gets to it, and whoever gave the buffer may have
 * stopped waiting by then. The rule: nobody stops. A deadline or a cancellation asks the kernel to give the operation
 * up, and then its end is awaited, which nothing cuts short; the answer to the cancelling itself says nothing, since the
 * operation may have ended, or not be held up, just then. Who cannot wait lets go of the operation before it
 * begins. From then on it is ours, and so is its end.
 *
 * Operations under way are in a list, so that a runtime that finishes can have them cancelled.
 */
#include "io/op.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include <fiber/fiber.h>
#include <fiber/op.h>
#include <fiber/time.h>

#include "base/compiler.h"
#include "base/list.h"
#include "os/spin.h"
#include "poll/ring.h"
#include "sched/wait.h"

#define TAKEN 32

/* A scheduler's. I set before it is published · L under ->lock */
struct ops {
	struct fib_ring *ring; /* I */
	bool own;	       /* I: not the poller's */
	_Atomic uint32_t lock;
	struct fib_list under_way; /* L: struct fiber_op.link */
	unsigned count;		   /* L: how many that are */
	bool finishing;		   /* L: somebody waits until there is none */
	struct fiber_event drained;
};

/* I set before it begins · L under waiters.lock · O under ops->lock */
struct fiber_op {
	struct fib_ring_op base; /* the ring's */
	struct fib_list link;	 /* O */
	struct ops *ops;	 /* I */
	struct fiber_wait_queue waiters;
	bool done;					 /* L */
	bool detached;					 /* I */
	void (*free_fn)(void *arg, int result);		 /* I */
	void *arg;					 /* I */
	_Alignas(8) unsigned char entry[FIB_RING_ENTRY]; /* I */
};

/* Have the poller tell when something is in the ring: from now on, or the next time. */
static int watch(struct fib_sched *s, struct fib_ring *ring)
{
	struct fib_poller *p = s->poller;
	int fd = fib_ring_descriptor(ring);

	return p->ops->want ? p->ops->want(p, fd, FIB_OP_RING, POLLIN)
			    : p->ops->watch(p, fd, FIB_OP_RING);
}

static int open_ring(struct fib_sched *s, struct ops *o)
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

static void close_ops(struct fib_sched *s, struct ops *o)
{
	if (o->own) {
		s->poller->ops->forget(s->poller, fib_ring_descriptor(o->ring));
		fib_ring_close(o->ring);
	}
	free(o);
}

/* The operations of s; the first time they are made. 0 and *ret. */
static int ops_of(struct fib_sched *s, struct ops **ret)
{
	void *none = NULL;
	struct ops *o = fib_load_acquire(&s->ops); /* pairs: op.ops */
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

static void enlist(struct ops *o, struct fiber_op *op)
{
	fib_spin_lock(&o->lock);
	fib_list_append(&o->under_way, &op->link);
	o->count++;
	fib_spin_unlock(&o->lock);
}

static void unlist(struct ops *o, struct fiber_op *op)
{
	bool last;

	fib_spin_lock(&o->lock);
	fib_list_remove(&op->link);
	last = --o->count == 0 && o->finishing;
	fib_spin_unlock(&o->lock);
	if (last)
		fiber_event_set(&o->drained);
}

/* The kernel is through with op. On a carrier of its scheduler, which outlives this. */
static void end(struct fiber_op *op)
{
	struct ops *o = op->ops;
	struct fib_wake wake;
	bool claimed = false;

	if (op->detached) {
		if (op->free_fn)
			op->free_fn(op->arg, op->base.result);
		unlist(o, op);
		free(op);
		return;
	}
	unlist(o, op);
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
	struct ops *o = fib_load_acquire(&s->ops); /* pairs: op.ops */
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

int fiber_op_prepare(struct fiber_op **ret, struct io_uring_sqe **ret_sqe)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber_op *op;
	struct ops *o;
	int rc;

	if (!c || !c->current)
		return -EPERM;
	rc = ops_of(c->sched, &o);
	if (rc < 0)
		return rc;
	op = calloc(1, sizeof *op);
	if (!op)
		return -ENOMEM;
	*ret = op;
	*ret_sqe = (struct io_uring_sqe *)op->entry;
	return 0;
}

/* From here on op is the kernel's, unless the result is negative. */
static int begin(struct fiber_op *op, struct ops *o)
{
	int rc;

	op->ops = o;
	enlist(o, op);
	rc = fib_ring_begin(o->ring, (const struct io_uring_sqe *)op->entry, &op->base);
	if (rc < 0)
		unlist(o, op);
	return rc;
}

/* Stand in the line for its end. True when it has come already. */
static bool join_line(struct fiber_op *op, struct fib_waiter *w)
{
	bool done;

	fib_queue_lock(&op->waiters);
	done = op->done;
	if (!done)
		fib_queue_append(&op->waiters, w);
	fib_queue_unlock(&op->waiters);
	return done;
}

static int await_end(struct fiber_op *op, struct fib_waiter *w, int64_t deadline)
{
	/* When somebody has decided the wait meanwhile it returns at once. */
	if (join_line(op, w) && fib_wait_retract(w))
		return 0;
	return fib_queue_wait(&op->waiters, w, deadline);
}

static bool has_ended(struct fiber_op *op)
{
	bool done;

	fib_queue_lock(&op->waiters);
	done = op->done;
	fib_queue_unlock(&op->waiters);
	return done;
}

/* Its end has not come, and nobody wants to wait for it any more. */
static void give_up(struct fiber_op *op)
{
	struct fib_waiter w;

	fib_ring_cancel(op->ops->ring, &op->base);
	fib_wait_begin_always(&w, FIB_WAIT_OP, op);
	await_end(op, &w, FIBER_FOREVER);
}

static int perform(struct fiber_op *op, struct ops *o, int64_t deadline)
{
	struct fib_waiter w;
	int begun, rc = fib_wait_begin(&w, FIB_WAIT_OP, op, op->entry[0], deadline);

	/* Without time to wait it is tried all the same. */
	if (rc < 0 && rc != -ETIMEDOUT)
		return rc;
	begun = begin(op, o);
	if (begun < 0) {
		if (rc == 0)
			fib_wait_abort(&w);
		return begun;
	}
	if (rc == 0)
		rc = await_end(op, &w, deadline);
	if (rc < 0 && !has_ended(op))
		give_up(op);
	else
		rc = 0;
	if (rc < 0 && (op->base.result == -ECANCELED || op->base.result == -EINTR))
		return rc;
	return op->base.result;
}

/* In a ring of its own, since perhaps nobody else looks at the other. */
static int perform_pinned(struct fiber_op *op, int64_t deadline)
{
	uint64_t event;
	int rc = fib_wait_enter_pinned(FIB_WAIT_OP, op->entry[0], deadline, &event);

	if (rc < 0)
		return rc;
	rc = fib_ring_perform((const struct io_uring_sqe *)op->entry, deadline);
	fib_wait_leave_pinned(event);
	return rc;
}

int fiber_op_await(struct fiber_op *op, int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	struct ops *o;
	int rc;

	if (!c || !c->current)
		return -EPERM;
	if (c->current->pins) {
		rc = perform_pinned(op, deadline);
	} else {
		rc = ops_of(c->sched, &o);
		if (rc == 0)
			rc = perform(op, o, deadline);
	}
	free(op);
	return rc;
}

int fiber_op_detach(struct fiber_op *op, void (*free_fn)(void *arg, int result), void *arg)
{
	struct fib_carrier *c = fib_carrier_self();
	struct ops *o;
	int rc;

	if (!c || !c->current)
		return -EPERM;
	op->detached = true;
	op->free_fn = free_fn;
	op->arg = arg;
	rc = ops_of(c->sched, &o);
	if (rc == 0)
		rc = begin(op, o);
	if (rc < 0)
		free(op);
	return rc;
}

int fib_op_finish(struct fib_sched *s, int64_t deadline)
{
	struct ops *o = fib_load_acquire(&s->ops); /* pairs: op.ops */
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
	struct ops *o = fib_load(&s->ops);

	if (o && o->own)
		fib_ring_close(o->ring);
	free(o);
}
