/* SPDX-License-Identifier: MIT */
/*
 * futex.c - futex(2) between fibers and threads
 *
 * A fiber waits in libfiber's lot, a thread in the kernel. A call that wakes wakes fibers first, and if
 * it may wake more, threads.
 *
 * A wait may end for no reason, so the lot knows no bits: a call that wakes by bits, or moves waits to
 * another futex, wakes all fibers there. Another process can change and wake a futex that is not
 * private, and wakes no fiber here. So a wait for such a one ends after 4 ms.
 *
 * Waits for futexes that inherit priorities block the carrier.
 */
#include "threads/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <fiber/fiber.h>
#include <fiber/time.h>

#include "call/park.h"
#include "system/native.h"
#include "threads/deadline.h"
#include "threads/lot.h"

#define SHARED_PAUSE 4000000 /* ns */

struct futex {
	const uint32_t *word;
	int op; /* with its flags */
	uint32_t value;
	const struct timespec *time;
	const uint32_t *second;
	uint32_t bits;
};

static bool must_wait(void *arg)
{
	const struct futex *f = arg;

	return __atomic_load_n(f->word, __ATOMIC_SEQ_CST) == f->value;
}

/* 0 and *ret, or EINVAL. */
static int deadline_of(const struct futex *f, int64_t *ret)
{
	const clockid_t clock = f->op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;

	if ((f->op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
		return f->bits ? fpx_deadline_at(clock, f->time, ret) : EINVAL;
	if (f->time &&
	    (f->time->tv_sec < 0 || f->time->tv_nsec < 0 || f->time->tv_nsec > 999999999))
		return EINVAL;
	*ret = fpx_deadline_after(f->time);
	return 0;
}

static long park(struct futex *f)
{
	const struct fiber_lot_wait wait = {
		.address = f->word, .kind = FIB_WAIT_FUTEX, .still = must_wait, .arg = f};
	int64_t deadline, until = FIBER_FOREVER;
	int rc = -deadline_of(f, &deadline);

	if (rc == 0) {
		if (!(f->op & FUTEX_PRIVATE_FLAG))
			until = fiber_after(SHARED_PAUSE);
		rc = fpx_lot_wait(&wait, until < deadline ? until : deadline);
		if (rc == -ETIMEDOUT && until < deadline)
			rc = 0;
	}
	return fpx_result(rc);
}

/* Wake fibers. Returns how many. */
static long wake(const uint32_t *word, size_t most)
{
	/* pairs: lot.meet */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return fpx_lot_occupied() ? (long)fiber_lot_wake(word, most) : 0;
}

static long in_kernel(const long *a)
{
	return fpx_native.syscall(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long wake_some(const struct futex *f, const long *arguments)
{
	const bool any =
		(f->op & FUTEX_CMD_MASK) == FUTEX_WAKE || f->bits == FUTEX_BITSET_MATCH_ANY;
	const long most = (int)f->value;
	const long fibers = most > 0 ? wake(f->word, any ? (size_t)most : SIZE_MAX) : 0;
	long rest[6] = {arguments[0], arguments[1], most - fibers,
			arguments[3], arguments[4], arguments[5]};
	long threads;

	if (fibers && fibers >= most)
		return most;
	threads = in_kernel(rest);
	return threads < 0 ? threads : fibers + threads;
}

long fpx_futex(const long *arguments)
{
	struct futex f = {(const uint32_t *)arguments[0], (int)arguments[1],
			  (uint32_t)arguments[2],	  (const struct timespec *)arguments[3],
			  (const uint32_t *)arguments[4], (uint32_t)arguments[5]};
	long threads;

	switch (f.op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return fpx_parks() ? park(&f) : in_kernel(arguments);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return wake_some(&f, arguments);
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_WAKE_OP:
		threads = in_kernel(arguments);
		return threads < 0 ? threads
				   : threads + wake(f.word, SIZE_MAX) + wake(f.second, SIZE_MAX);
	default:
		return in_kernel(arguments);
	}
}
