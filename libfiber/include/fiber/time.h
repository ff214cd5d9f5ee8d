/* SPDX-License-Identifier: MIT */
/* time.h - the clock, deadlines, sleeping. */
#ifndef FIBER_TIME_H
#define FIBER_TIME_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

/* A deadline that never comes. Deadlines are absolute nanoseconds on fiber_now()'s clock; one in
 * the past means "try once, do not wait" and gives -ETIMEDOUT where the call would have waited. */
#define FIBER_FOREVER INT64_MAX

/* Return nanoseconds on CLOCK_MONOTONIC. From anywhere, also a signal handler. */
FIBER_API int64_t fiber_now(void);

/* Return fiber_now() + ns, limited to the range 0 to FIBER_FOREVER. From anywhere, also a signal
 * handler. */
FIBER_API int64_t fiber_after(int64_t ns);

/*
 * Sleep for ns nanoseconds (<= 0: not at all) or until an absolute deadline. From a fiber, which
 * parks, or a thread, which blocks; not from a signal handler. Returns 0; -ECANCELED in a cancelled
 * fiber; -EDEADLK in a pinned fiber under FIBER_PINNED_ERROR; -ENOMEM without memory for the
 * deadline.
 */
FIBER_API int fiber_sleep(int64_t ns);
FIBER_API int fiber_sleep_until(int64_t deadline);

/*
 * A timer that can be waited for, moved and repeated. It needs no fiber or thread of its own: the
 * next expiration is a deadline on the waiter's carrier. All functions except fiber_timer_free()
 * may be called by several fibers and threads at once, none by a signal handler.
 * fiber_object_name() gives it a name for the tools.
 */
struct fiber_timer;

/* Make a timer that is not armed. *ret is the caller's until fiber_timer_free(). Returns 0 or
 * -ENOMEM. */
FIBER_API int fiber_timer_new(struct fiber_timer **ret);

/*
 * Arm the timer: it expires at first (absolute ns; in the past: at once; FIBER_FOREVER: never) and,
 * unless period (ns) is 0, every period after that. Periods count from first: a late waiter does
 * not shift them. Arming replaces the earlier setting and drops the expirations that were not
 * waited for. Current waiters wait for the new expiration. Never waits. Returns 0, or -EINVAL for a
 * negative period.
 */
FIBER_API int fiber_timer_arm(struct fiber_timer *timer, int64_t first, int64_t period);

/*
 * Wait until the timer has expired, at most until deadline (absolute ns). An expiration is given to
 * every waiter present at that time. Expirations without a waiter are counted and given to the next
 * caller, which then need not wait. *ret_expirations is the number of expirations this call was
 * given, at least 1. From a fiber, which parks, or a thread, which blocks.
 *
 * Returns 0; -ETIMEDOUT; -ECANCELED in a cancelled fiber; -EDEADLK in a pinned fiber under
 * FIBER_PINNED_ERROR; -ENOMEM without memory for the deadline. No expiration is lost by an error.
 */
FIBER_API int fiber_timer_wait(struct fiber_timer *timer, uint64_t *ret_expirations,
			       int64_t deadline);

/* Release the timer; NULL is allowed. Freeing a timer that has waiters is misuse and aborts. */
FIBER_API void fiber_timer_free(struct fiber_timer *timer);

FIBER_END_DECLS

#endif
