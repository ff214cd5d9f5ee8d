/* SPDX-License-Identifier: MIT */
/* time.h - the clock, deadlines, sleeping. */
#ifndef FIBER_TIME_H
#define FIBER_TIME_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

/* A deadline that never comes. Deadlines are absolute nanoseconds on fiber_now()'s clock; one in
 * the past means "try once, do not wait" and gives -ETIMEDOUT where the call would have waited. */
#define FIBER_FOREVER INT64_MAX

/* Nanoseconds on CLOCK_MONOTONIC. From anywhere, also a signal handler. */
FIBER_API int64_t fiber_now(void);

/* fiber_now() + ns, saturating at FIBER_FOREVER and at 0. From anywhere, also a signal handler. */
FIBER_API int64_t fiber_after(int64_t ns);

/* Sleep for ns nanoseconds (<= 0: not at all) or until an absolute deadline. From a fiber, which
 * parks, or a thread, which blocks; not from a signal handler. Returns 0; -ECANCELED in a
 * cancelled fiber; -EDEADLK in a pinned fiber under FIBER_PINNED_ERROR; -ENOMEM without memory for
 * the deadline. */
FIBER_API int fiber_sleep(int64_t ns);
FIBER_API int fiber_sleep_until(int64_t deadline);

/*
 * A timer that can be waited for, moved and repeated. It needs neither a fiber nor a thread of
 * its own: whoever waits has the next expiration among its own carrier's deadlines. All but
 * fiber_timer_free() may be called by several fibers and threads at once, none by a signal
 * handler. fiber_object_name() gives it a name for the tools.
 */
struct fiber_timer;

/* Make a timer that is not armed. *ret is the caller's until fiber_timer_free(). 0, -ENOMEM. */
FIBER_API int fiber_timer_new(struct fiber_timer **ret);

/*
 * Let it expire at first (absolute ns; one in the past: at once; FIBER_FOREVER: never) and,
 * unless period (ns) is 0, every period after that, counted from first: a late waiter does not
 * shift what follows. Whatever it was armed to before is forgotten, with the expirations that
 * nobody waited for; those who wait go on waiting, for the new expiration. Never waits. 0;
 * -EINVAL for a negative period.
 */
FIBER_API int fiber_timer_arm(struct fiber_timer *timer, int64_t first, int64_t period);

/*
 * Wait until the timer has expired, deadline (absolute ns) at the longest. An expiration is
 * given to everybody who waits when it comes; those that come while nobody waits are kept and
 * counted for the next one who does, who then need not wait. *ret_expirations: how many this
 * call was given, at least 1. From a fiber, which parks, or a thread, which blocks. 0;
 * -ETIMEDOUT; -ECANCELED in a cancelled fiber; -EDEADLK in a pinned fiber under
 * FIBER_PINNED_ERROR; -ENOMEM without memory for the deadline. Errors lose no expiration.
 */
FIBER_API int fiber_timer_wait(struct fiber_timer *timer, uint64_t *ret_expirations,
			       int64_t deadline);

/* Release it; NULL does nothing. Freeing a timer that somebody waits for is misuse and aborts. */
FIBER_API void fiber_timer_free(struct fiber_timer *timer);

FIBER_END_DECLS

#endif
