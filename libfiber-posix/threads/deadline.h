/* SPDX-License-Identifier: MIT */
/* deadline.h - points in time of POSIX as libfiber's deadlines */
#ifndef FPX_THREADS_DEADLINE_H
#define FPX_THREADS_DEADLINE_H

#include <stdint.h>
#include <time.h>

/* Returns 0 and *ret, or EINVAL for a clock or a time that is none. at NULL: never. */
int fpx_deadline_at(clockid_t clock, const struct timespec *at, int64_t *ret);

#endif
