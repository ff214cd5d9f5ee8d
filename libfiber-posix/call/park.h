/* SPDX-License-Identifier: MIT */
/* park.h - whether a call parks, and until when */
#ifndef FPX_CALL_PARK_H
#define FPX_CALL_PARK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Whether a call has parked, or might have, since the start of the program. */
bool fpx_used(void);

/* Whether a call of this library made here parks: in a fiber without fiber_posix_blocking(). */
bool fpx_parks(void);

/*
 * A try has found that the call on fd would wait. option: SO_RCVTIMEO or SO_SNDTIMEO, which a socket
 * may have. Returns 1 if the call waits, until *ret_deadline; 0 if fd is non-blocking; or a negative
 * errno.
 */
int fpx_may_wait(int fd, int option, int64_t *ret_deadline);

/* Whether fd has O_NONBLOCK: 1, 0, or a negative errno. */
int fpx_nonblocking(int fd);

/* Whether -ETIMEDOUT says that the deadline has passed. It may be an error of the connection too. */
bool fpx_late(ssize_t n, int64_t deadline);

/*
 * Called when a call returns because its fiber is cancelled; it may end the fiber. Set before the first
 * fiber.
 */
extern void (*fpx_on_cancelled)(void);

/*
 * The caller is about to wait in a call that is never restarted after a handler of a signal has run,
 * also if the handler has SA_RESTART (signal(7)). Until fpx_interrupted() or fpx_result().
 */
void fpx_unrestarted(void);

/* The flag that says so, of a fiber with thread-locals of its own. By the fiber. */
const bool *fpx_unrestarted_flag(void);

/*
 * rc, a result of libfiber: -EINTR in place of -ECANCELED if the caller is not cancelled, but a signal
 * has interrupted it. fpx_on_cancelled() was called otherwise.
 */
ssize_t fpx_interrupted(ssize_t rc);

/* Return n, or -1 with errno set from a negative n. */
ssize_t fpx_result(ssize_t n);

/* The deadline that is a time from now; NULL: never. */
int64_t fpx_deadline_after(const struct timespec *time);

#endif
