/* SPDX-License-Identifier: MIT */
/*
 * op.c - operations of the program's own
 *
 * The danger is memory. The kernel writes into a buffer whenever it gets to it, and whoever gave the buffer may have
 * stopped waiting by then. The rule: nobody stops. A deadline or a cancellation asks the kernel to give the operation
 * up, and then its end is awaited, which nothing cuts short; the answer to the cancelling itself says nothing, since the
 * operation may have ended, or not be held up, just then. Who cannot wait lets go of the operation before it
 * begins, or, when it works on no memory of his, later (fib_op_await_or_leave). From then on it is ours, and so is its end.
 */
#include "base/check.h"
#include "io/op.h"

#include <errno.h>
#include <stdlib.h>

#include <fiber/fiber.h>
#include <fiber/op.h>
#include <fiber/time.h>

#include "io/ops.h"
#include "poll/ring.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

int fiber_op_prepare(struct fiber_op **ret, struct io_uring_sqe **ret_sqe)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber_op *op;
	struct fib_ops *o;
	int rc;

	fib_must_have(ret, "ret");
	if (!c || !c->current)
		return -EPERM;
	rc = fib_ops_of(c->sched, &o);
	if (rc < 0)
		return rc;
	op = calloc(1, sizeof *op);
	if (!op)
		return -ENOMEM;
	*ret = op;
	*ret_sqe = (struct io_uring_sqe *)op->entry;
	return 0;
}

/* Stand in the line for its end. True when it has come already. */
static bool enqueue_waiter(struct fiber_op *op, struct fib_waiter *w)
{
	bool done;

	fib_queue_lock(&op->waiters);
	done = op->done;
	if (!done)
		fib_queue_append(&op->waiters, w);
	fib_queue_unlock(&op->waiters);
	return done;
}

static int wait_for_completion(struct fiber_op *op, struct fib_waiter *w, int64_t deadline)
{
	/* When somebody has decided the wait meanwhile it returns at once. */
	if (enqueue_waiter(op, w) && fib_wait_retract(w))
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

	fib_ops_cancel(op);
	fib_wait_begin_unconditional(&w, FIB_WAIT_OP, op);
	wait_for_completion(op, &w, FIBER_FOREVER);
}

/* What becomes of an operation whose caller gives up the wait. */
struct leaving {
	void (*free_fn)(void *arg, int result);
	void *arg;
	bool left;
};

/* leaving NULL: whoever gives up waits for the end. */
static int perform(struct fiber_op *op, struct fib_ops *o, int64_t deadline,
		   struct leaving *leaving)
{
	struct fib_waiter w;
	int begun, rc = fib_wait_begin(&w, FIB_WAIT_OP, op, op->entry[0], deadline);

	/* Without time to wait it is tried all the same. */
	if (rc < 0 && rc != -ETIMEDOUT)
		return rc;
	begun = fib_ops_begin(o, op);
	if (begun < 0) {
		if (rc == 0)
			fib_wait_abort(&w);
		return begun;
	}
	if (rc == 0)
		rc = wait_for_completion(op, &w, deadline);
	if (rc == 0 || has_ended(op))
		return op->base.result;
	if (leaving)
		leaving->left = fib_ops_leave(op, leaving->free_fn, leaving->arg);
	if (leaving && leaving->left)
		return rc;
	give_up(op);
	if (op->base.result == -ECANCELED || op->base.result == -EINTR)
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
	struct fib_ops *o;
	int rc;

	fib_must_have(op, "the operation");
	if (!c || !c->current)
		return -EPERM;
	if (c->current->pins) {
		rc = perform_pinned(op, deadline);
	} else {
		rc = fib_ops_of(c->sched, &o);
		if (rc == 0)
			rc = perform(op, o, deadline, NULL);
	}
	free(op);
	return rc;
}

bool fib_op_is_at_hand(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c && c->current && !c->current->pins && c->sched->poller->ops->ring;
}

int fib_op_await_uncancellable(struct fiber_op *op)
{
	struct fib_waiter w;
	struct fib_ops *o;
	int rc = fib_ops_of(fib_carrier_self()->sched, &o);

	if (rc == 0)
		rc = fib_wait_begin_uncancellable(&w, FIB_WAIT_OP, op, op->entry[0], FIBER_FOREVER);
	if (rc == 0) {
		rc = fib_ops_begin(o, op);
		if (rc < 0)
			fib_wait_abort(&w);
		else
			wait_for_completion(op, &w, FIBER_FOREVER);
	}
	if (rc == 0)
		rc = op->base.result;
	free(op);
	return rc;
}

int fib_op_await_or_leave(struct fiber_op *op, int64_t deadline,
			  void (*free_fn)(void *arg, int result), void *arg, bool *ret_left)
{
	struct leaving leaving = {free_fn, arg, false};
	struct fib_ops *o;
	int rc = fib_ops_of(fib_carrier_self()->sched, &o);

	if (rc == 0)
		rc = perform(op, o, deadline, &leaving);
	if (!leaving.left)
		free(op);
	*ret_left = leaving.left;
	return rc;
}

int fiber_op_detach(struct fiber_op *op, void (*free_fn)(void *arg, int result), void *arg)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fib_ops *o;
	int rc;

	fib_must_have(op, "the operation");
	if (!c || !c->current)
		return -EPERM;
	op->detached = true;
	op->free_fn = free_fn;
	op->arg = arg;
	rc = fib_ops_of(c->sched, &o);
	if (rc == 0)
		rc = fib_ops_begin(o, op);
	if (rc < 0)
		free(op);
	return rc;
}
