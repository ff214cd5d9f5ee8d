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
 * parks, or a thread, which blocks. Returns 0; -ECANCELED in a cancelled fiber; -EDEADLK in a
 * pinned fiber under FIBER_PINNED_ERROR. */
FIBER_API int fiber_sleep(int64_t ns);
FIBER_API int fiber_sleep_until(int64_t deadline);

FIBER_END_DECLS

#endif
