/* SPDX-License-Identifier: MIT */
/*
 * op.c - ring operations of the program
 *
 * The kernel may write into a buffer at any time until an operation ends. If a caller stopped
 * waiting before that, its memory would be overwritten. The rule: a deadline or a cancellation asks
 * the kernel to cancel the operation, and then the caller waits for its end without limit. The
 * result of the cancel request itself says nothing: the operation may just have ended, or may not
 * be cancellable at that moment.
 *
 * A caller that cannot wait detaches the operation before it starts. If the operation uses no
 * memory of the caller, it can also be left later (fib_op_await_or_leave). The library then owns it
 * until its end.
 */
#include "choice.h"
#include "fault.h"
#include "operation.h"
#include "order.h"
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

static const int any_descriptor = -1; /* the kernel moves bytes of some descriptor */

int fiber_op_prepare(struct fiber_op **ret, struct io_uring_sqe **ret_sqe)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber_op *op;
	struct fib_ops *o;
	int rc;

	fib_must_have(ret, "ret");
	if (!c || !c->current)
		return -EPERM;
	rc = fib_fault(MEMORY);
	if (rc == 0)
		rc = fib_fault(DESCRIPTOR);
	if (rc == 0)
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

/* Join the queue for its end. True: it has ended already. */
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
	/* If the wait was decided meanwhile, fib_queue_wait() returns at once. */
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

/* Cancel an operation that has not ended, and wait for its end. */
static void give_up(struct fiber_op *op)
{
	struct fib_waiter w;

	fib_ops_cancel(op);
	fib_wait_begin_unconditional(&w, FIB_WAIT_OP, op);
	wait_for_completion(op, &w, FIBER_FOREVER);
}

/* What happens to an operation whose caller stops waiting. */
struct leaving {
	void (*free_fn)(void *arg, int result);
	void *arg;
	bool left;
};

/* leaving NULL: a caller whose wait ends early waits for the end of the operation. */
static int perform(struct fiber_op *op, struct fib_ops *o, int64_t deadline,
		   struct leaving *leaving)
{
	struct fib_waiter w;
	int begun, rc = fib_wait_begin(&w, FIB_WAIT_OP, op, op->entry[0], deadline);

	/* After the deadline the operation is still tried once. */
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

/* In a separate ring, because no other thread may be polling the scheduler's. */
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
	int rc = 0;

	fib_choice_within();
	fib_choice(op);
	fib_order_bytes_out(any_descriptor);
	fib_must_have(op, "the operation");
	if (!c || !c->current)
		return -EPERM;
	if (fib_operation_await(op->entry, deadline, &rc)) {
		/* It was no operation of the kernel. */
	} else if (c->current->pins) {
		rc = perform_pinned(op, deadline);
	} else {
		rc = fib_ops_of(c->sched, &o);
		if (rc == 0)
			rc = perform(op, o, deadline, NULL);
	}
	fib_order_bytes_in(any_descriptor, rc);
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

	fib_choice(op);
	fib_order_bytes_out(any_descriptor);
	fib_must_have(op, "the operation");
	if (!c || !c->current)
		return -EPERM;
	fib_operation_detach(op->entry);
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
