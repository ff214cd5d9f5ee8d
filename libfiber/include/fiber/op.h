/* SPDX-License-Identifier: MIT */
/*
 * op.h - operations of your own, which the kernel performs while the fiber is parked
 *
 * Whatever io_uring(7) can do: prepare an operation, fill in its submission entry (with
 * liburing's io_uring_prep_*() or by hand, from <linux/io_uring.h>), and await it. One of await
 * and detach ends the life of every operation that was prepared, once, whatever it returns; an
 * entry left as it was prepared is one that does nothing.
 *
 * Memory that the entry points to must last until fiber_op_await() has returned, or until the
 * function given to fiber_op_detach() is called; the kernel does not touch it after that. The
 * entry's user_data is the runtime's. An operation stands alone: IOSQE_IO_LINK,
 * IOSQE_IO_HARDLINK, IOSQE_IO_DRAIN and IOSQE_CQE_SKIP_SUCCESS give -EINVAL. One with several
 * completions, as a zero-copy send has, ends with the last and gives the result of the first.
 *
 * These work in fibers only and are not async-signal-safe.
 */
#ifndef FIBER_OP_H
#define FIBER_OP_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber_op;
struct io_uring_sqe;

/* Make an operation; *ret_sqe, all zero, is to be filled. 0; -EPERM outside a fiber, and where
 * io_uring is forbidden; -ENOSYS where libfiber or the kernel has none; -ENOMEM, -EMFILE, -ENFILE. */
FIBER_API int fiber_op_prepare(struct fiber_op **ret, struct io_uring_sqe **ret_sqe);

/*
 * Have the operation performed, wait for its end and release it. Returns its result, as the
 * kernel gave it: a count or a negative errno. When the deadline passes, or the fiber is
 * cancelled, the operation is cancelled and its end awaited all the same, so that nothing of it
 * goes on after the return: -ETIMEDOUT or -ECANCELED if the kernel gave it up, else its
 * result. The kernel gives up what waits, for bytes or for time, at once, and what a disk is
 * doing not before it is done. With a deadline in the past it gets one try.
 *
 * Without having begun: -ECANCELED in a fiber that was cancelled before, -EDEADLK in a pinned
 * one under FIBER_PINNED_ERROR, -EINVAL for an entry's flags as said above, -ENOMEM, -EAGAIN. A
 * pinned fiber that may wait blocks its carrier, and no cancellation ends its operation. -EPERM
 * outside a fiber, where the operation stays whose it was.
 */
FIBER_API int fiber_op_await(struct fiber_op *op, int64_t deadline);

/*
 * Have the operation performed and do not wait: once it has ended, free_fn(arg, result) is
 * called, on a carrier and outside a fiber, unless free_fn is NULL. It may wake fibers and release
 * memory, and must not wait. 0; a negative errno as above when nothing was begun: then free_fn is
 * not called, and the operation is released. A runtime that finishes cancels what is still under
 * way, once no fiber is left, and waits for its end.
 */
FIBER_API int fiber_op_detach(struct fiber_op *op, void (*free_fn)(void *arg, int result),
			      void *arg);

FIBER_END_DECLS

#endif
