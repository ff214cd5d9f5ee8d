/* SPDX-License-Identifier: MIT */
/*
 * op.h - io_uring operations of the program, performed by the kernel while the fiber is parked
 *
 * Any operation of io_uring(7): prepare it, fill in its submission entry (with liburing's
 * io_uring_prep_*() or by hand, from <linux/io_uring.h>), and await it. Every prepared operation
 * must be passed exactly once to fiber_op_await() or fiber_op_detach(), which releases it whatever
 * the result. An entry left as prepared is a no-op.
 *
 * Memory that the entry points to must last until fiber_op_await() has returned, or until the
 * function given to fiber_op_detach() is called; the kernel does not access it after that. The
 * entry's user_data belongs to the runtime. Operations cannot be linked: IOSQE_IO_LINK,
 * IOSQE_IO_HARDLINK, IOSQE_IO_DRAIN and IOSQE_CQE_SKIP_SUCCESS give -EINVAL. An operation with
 * several completions, such as a zero-copy send, ends with the last and returns the result of the
 * first.
 *
 * These functions work in fibers only and are not async-signal-safe.
 */
#ifndef FIBER_OP_H
#define FIBER_OP_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber_op;
struct io_uring_sqe;

/* Make an operation. *ret_sqe is all zero; the caller fills it. Returns 0; -EPERM outside a fiber,
 * and where io_uring is forbidden; -ENOSYS where libfiber or the kernel has no io_uring; -ENOMEM,
 * -EMFILE, -ENFILE. */
FIBER_API int fiber_op_prepare(struct fiber_op **ret, struct io_uring_sqe **ret_sqe);

/*
 * Perform the operation, wait for its end and release it. Returns the kernel's result: a count or a
 * negative errno.
 *
 * When the deadline passes, or the fiber is cancelled, the operation is cancelled and its end is
 * still awaited, so that no part of it continues after the return. The call returns -ETIMEDOUT or
 * -ECANCELED if the kernel cancelled it, else its result. The kernel cancels operations that wait
 * for data or time at once, and disk operations only when they complete. With a deadline in the
 * past the operation gets one try.
 *
 * Errors before the start: -ECANCELED in a fiber that was already cancelled; -EDEADLK in a pinned
 * one under FIBER_PINNED_ERROR; -EINVAL for the entry flags listed above; -ENOMEM, -EAGAIN. -EPERM
 * outside a fiber; then the operation is not released. A pinned fiber that may wait blocks its
 * carrier, and a cancellation does not end its operation.
 */
FIBER_API int fiber_op_await(struct fiber_op *op, int64_t deadline);

/*
 * Start the operation and do not wait. When it has ended, free_fn(arg, result) is called on a
 * carrier, outside a fiber, unless free_fn is NULL. free_fn may wake fibers and release memory, and
 * must not wait. Returns 0, or a negative errno as above when nothing was started: then free_fn is
 * not called and the operation is released. A runtime that finishes cancels the operations still in
 * progress, once no fiber is left, and waits for their end.
 */
FIBER_API int fiber_op_detach(struct fiber_op *op, void (*free_fn)(void *arg, int result),
			      void *arg);

FIBER_END_DECLS

#endif
