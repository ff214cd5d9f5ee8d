/* SPDX-License-Identifier: MIT */
/* ready.h - wait for descriptors until a deadline */
#ifndef FPX_CALL_READY_H
#define FPX_CALL_READY_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* poll(2) in a fiber. Returns the number of ready entries; 0 after the deadline; or a negative errno. */
int fpx_poll_until(struct pollfd *fds, nfds_t n, int64_t deadline);

/*
 * The same with a signal mask, or with none: NULL. A signal that the mask lets in is handled by
 * another thread, and gives -EINTR.
 */
int fpx_poll_masked(struct pollfd *fds, nfds_t n, const sigset_t *mask, int64_t deadline);

/* The deadline of poll(2)'s timeout. */
int64_t fpx_deadline_ms(int timeout);

/* Whether the system takes this time; NULL: for ever. */
bool fpx_time_valid(const struct timespec *time);

/* Whether the call does not wait. */
bool fpx_time_zero(const struct timespec *time);

#endif
