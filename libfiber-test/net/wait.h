/* SPDX-License-Identifier: MIT */
/* wait.h - a blocking call of the program in a schedule lets other fibers run */
#ifndef FIB_TEST_NET_WAIT_H
#define FIB_TEST_NET_WAIT_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a call on fd may wait: neither the descriptor nor flags (MSG_DONTWAIT) say otherwise.
 */
bool fib_net_waits(int fd, int flags);

/* Whether fd is ready for events now. */
bool fib_net_ready(int fd, short events);

/* The deadline of a wait of so many ns; 0: none. */
int64_t fib_net_deadline(int64_t timeout);

/* Wait until fd is ready for events. deadline: on fib_os_now()'s clock. 0 or -EAGAIN. */
int fib_net_wait(int fd, short events, int64_t deadline);

/*
 * Before a call that the system makes: wait until fd is ready, if the calling fiber would block
 * its thread otherwise.
 */
void fib_net_wait_before(int fd, short events, int flags);

/*
 * poll(2) for a fiber: the number of ready descriptors, 0: the deadline has passed; or -1 and
 * errno. Other fibers run meanwhile.
 */
int fib_net_poll(struct pollfd *fds, nfds_t n, int64_t deadline);

#endif
