/* SPDX-License-Identifier: MIT */
/*
 * ring.c - an io_uring that several threads use
 *
 * io_uring needs one submitter at a time and one consumer at a time. Submitting is done under a
 * lock, and a thread submits the entries it fills before it unlocks. So the submission queue is
 * empty whenever the lock is free. Entries that the kernel did not accept belong to the thread with
 * the lock, which takes them back.
 *
 * The completion queue may be full. The kernel then keeps completions (IORING_FEAT_NODROP) and
 * delivers them when it is entered for completions. A consumer that finds the queue empty checks
 * the flag for that.
 *
 * Flags that tie a ring to one thread cannot be used, because carriers alternate. Nor is the kernel
 * asked to defer the work of a completion until the thread enters the kernel: a fiber may compute
 * for long before that.
 *
 * An operation may have several completions (a zero-copy send has two: sent, and memory released).
 * It ends with the last; its result is that of the first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "checker.h" /* of the folder that the Makefile chose */
#include "os/features.h"
#include "os/os.h"
#include "poll/uring/inner.h"

#define ENTRIES	    64u
#define COMPLETIONS 4096u
/*
 * The kernel threads for file operations, per submitting thread. The kernel's default is four per
 * CPU, and as many FIFOs that no process opens at the other end would block all operations.
 */
#define WORKERS 64u
#define NEEDED                                                                  \
	(IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_EXT_ARG | \
	 IORING_FEAT_RSRC_TAGS | IORING_FEAT_CQE_SKIP)

/*
 * Not allowed: links to other callers' entries, and entries without a completion, which would never
 * end.
 */
#define NOT_ALONE (IOSQE_IO_LINK | IOSQE_IO_HARDLINK | IOSQE_IO_DRAIN | IOSQE_CQE_SKIP_SUCCESS)

/* ERESTARTSYS and the codes after it, which no user-space header defines. */
#define RESTART_FIRST 512
#define RESTART_LAST  516

_Static_assert(sizeof(struct io_uring_sqe) == FIB_RING_ENTRY, "an entry has another size");

/* A sandbox may allow to make a ring and refuse to use it. */
static int check_entry(struct fib_ring *ring)
{
	return io_uring_enter((unsigned)ring->uring.ring_fd, 0, 0, 0, NULL);
}

int fib_ring_setup(struct fib_ring *ring)
{
	struct io_uring_params params = {.flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
					 .cq_entries = COMPLETIONS};
	unsigned workers[2] = {WORKERS, 0 /* unchanged */};
	int rc;

	/* Under valgrind 3.19 a wait for completions does not return, and blocks other threads. */
	if (fib_checker_runs())
		return -ENOSYS;
	rc = io_uring_queue_init_params(ENTRIES, &ring->uring, &params);
	if (rc == 0) {
		rc = (params.features & NEEDED) == NEEDED ? check_entry(ring) : -ENOSYS;
		if (rc < 0)
			io_uring_queue_exit(&ring->uring);
	}
	if (fib_os_is_refusal(rc))
		fib_os_feature_lacks(FIB_OS_IO_URING);
	if (rc < 0)
		return rc;
	fib_os_feature_works(FIB_OS_IO_URING);
	/* If this fails, the ring works with the default. */
	io_uring_register_iowq_max_workers(&ring->uring, workers);
	return 0;
}

void fib_ring_release(struct fib_ring *ring)
{
	io_uring_queue_exit(&ring->uring);
}

struct io_uring_sqe *fib_ring_entry(struct fib_ring *ring, uint64_t known)
{
	struct io_uring_sqe *entry = io_uring_get_sqe(&ring->uring);

	memset(entry, 0, sizeof *entry);
	entry->user_data = known;
	return entry;
}

/*
 * The kernel reads the tail only in io_uring_enter, and no other thread enters: moving it back is
 * safe.
 */
static void take_back(struct io_uring_sq *sq)
{
	sq->sqe_tail = sq->sqe_head = *sq->khead;
	*sq->ktail = *sq->khead;
}

int fib_ring_submit(struct fib_ring *ring)
{
	while (io_uring_sq_ready(&ring->uring)) {
		int n = io_uring_submit(&ring->uring);

		if (n == -EINTR)
			continue;
		if (n <= 0) {
			take_back(&ring->uring.sq);
			return n == 0 || n == -EBUSY ? -EAGAIN : n;
		}
	}
	return 0;
}

void fib_ring_submit_surely(struct fib_ring *ring)
{
	while (io_uring_sq_ready(&ring->uring)) {
		int n = io_uring_submit(&ring->uring);

		if (n > 0)
			continue;
		if (n != 0 && n != -EINTR && n != -EAGAIN && n != -EBUSY && n != -ENOMEM) {
			take_back(&ring->uring.sq);
			return;
		}
		fib_os_yield();
	}
}

/* An interrupted open returns the kernel's internal restart code. */
static int32_t result(const struct io_uring_cqe *cqe)
{
	return cqe->res <= -RESTART_FIRST && cqe->res >= -RESTART_LAST ? -EINTR : cqe->res;
}

bool fib_ring_answer(struct fib_ring_op *op, const struct io_uring_cqe *cqe)
{
	/* pairs: ring.begin */
	if (!fib_load_acquire(&op->answered)) {
		fib_store(&op->answered, 1);
		op->result = result(cqe);
	}
	return !(cqe->flags & IORING_CQE_F_MORE);
}

void fib_ring_refresh(struct fib_ring *ring)
{
	if (!io_uring_cq_ready(&ring->uring) && io_uring_cq_has_overflow(&ring->uring))
		io_uring_get_events(&ring->uring);
}

int fib_ring_sleep(struct fib_ring *ring, int64_t deadline)
{
	struct __kernel_timespec t = {0};
	struct io_uring_cqe *first;
	int64_t left;

	if (deadline == INT64_MAX)
		return io_uring_wait_cqes(&ring->uring, &first, 1, NULL, NULL);
	left = deadline - fib_os_now();
	if (left <= 0)
		return -ETIME;
	t.tv_sec = left / 1000000000;
	t.tv_nsec = left % 1000000000;
	return io_uring_wait_cqes(&ring->uring, &first, 1, &t, NULL);
}

int fib_ring_open(struct fib_ring **ret)
{
	struct fib_ring *ring = calloc(1, sizeof *ring);
	int rc = ring ? fib_ring_setup(ring) : -ENOMEM;

	if (rc < 0) {
		free(ring);
		return rc;
	}
	*ret = ring;
	return 0;
}

void fib_ring_close(struct fib_ring *ring)
{
	fib_ring_release(ring);
	free(ring);
}

int fib_ring_descriptor(struct fib_ring *ring)
{
	return ring->uring.ring_fd;
}

int fib_ring_begin(struct fib_ring *ring, const struct io_uring_sqe *entry, struct fib_ring_op *op)
{
	struct io_uring_sqe *own;
	int rc;

	if (entry->flags & NOT_ALONE)
		return -EINVAL;
	fib_spin_lock(&ring->lock);
	own = fib_ring_entry(ring, 0);
	*own = *entry;
	own->user_data = (uint64_t)(uintptr_t)op;
	/*
	 * label: ring.begin -- a thread that gets the completion sees everything that came before
	 * this.
	 */
	fib_store_release(&op->answered, 0);
	rc = fib_ring_submit(ring);
	fib_spin_unlock(&ring->lock);
	return rc;
}

void fib_ring_cancel(struct fib_ring *ring, const struct fib_ring_op *op)
{
	struct io_uring_sqe *entry;

	fib_spin_lock(&ring->lock);
	entry = fib_ring_entry(ring, KIND_NOTHING);
	io_uring_prep_cancel64(entry, (uint64_t)(uintptr_t)op, 0);
	entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
	entry->user_data = KIND_NOTHING;
	fib_ring_submit_surely(ring);
	fib_spin_unlock(&ring->lock);
}

int fib_ring_take(struct fib_ring *ring, struct fib_ring_op **ended, int max)
{
	struct io_uring_cqe *cqe;
	unsigned head, seen = 0;
	int n = 0;

	fib_spin_lock(&ring->take);
	fib_ring_refresh(ring);
	io_uring_for_each_cqe(&ring->uring, head, cqe)
	{
		struct fib_ring_op *op = (struct fib_ring_op *)(uintptr_t)cqe->user_data;

		if (n == max)
			break;
		seen++;
		if ((cqe->user_data & KIND_MASK) == KIND_OP && fib_ring_answer(op, cqe))
			ended[n++] = op;
	}
	io_uring_cq_advance(&ring->uring, seen);
	fib_spin_unlock(&ring->take);
	return n;
}

int fib_ring_perform(const struct io_uring_sqe *entry, int64_t deadline)
{
	struct fib_ring ring = {0};
	struct fib_ring_op op = {0}, *ended;
	bool late = false;
	int rc = fib_ring_setup(&ring);

	if (rc < 0)
		return rc;
	rc = fib_ring_begin(&ring, entry, &op);
	while (rc == 0 && !fib_ring_take(&ring, &ended, 1)) {
		if (fib_ring_sleep(&ring, late ? INT64_MAX : deadline) == -ETIME && !late) {
			late = true;
			fib_ring_cancel(&ring, &op);
		}
	}
	fib_ring_release(&ring);
	if (rc < 0)
		return rc;
	return late && (op.result == -ECANCELED || op.result == -EINTR) ? -ETIMEDOUT : op.result;
}
