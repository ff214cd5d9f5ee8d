/* SPDX-License-Identifier: MIT */
/*
 * events.h - the bits of poll(2) that every poller watches for and reports
 *
 * epoll(7) and io_uring's poll operation report the same bits as poll(2). Where the peer has closed
 * its end of a connection a read returns at once, so POLLRDHUP also wakes readers.
 */
#ifndef FIB_POLL_EVENTS_H
#define FIB_POLL_EVENTS_H

#include <poll.h>
#include <stdint.h>

#define FIB_POLL_EDGES	  (POLLIN | POLLPRI | POLLOUT | POLLRDHUP) /* what is asked for */
#define FIB_POLL_REPORTED (FIB_POLL_EDGES | POLLERR | POLLHUP)

/* What an edge-triggered poller reports of the bits that the kernel gave. */
static inline short fib_poll_reported(uint32_t events)
{
	const uint32_t r = events & FIB_POLL_REPORTED;

	return (short)(r & POLLRDHUP ? r | POLLIN : r);
}

#endif
