/* SPDX-License-Identifier: MIT */
/* ready.h - wait for descriptors until a deadline */
#ifndef FPX_CALL_READY_H
#define FPX_CALL_READY_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* poll(2) in a fiber. Returns the number of ready entries; 0 after the deadline; or a negative errno. */
int fpx_poll_until(struct pollfd *fds, nfds_t n, int64_t deadline);

/* The deadline of poll(2)'s timeout. */
int64_t fpx_deadline_ms(int timeout);

/* Whether the system takes this time; NULL: for ever. */
bool fpx_time_valid(const struct timespec *time);

#endif
