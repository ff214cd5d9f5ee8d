/* SPDX-License-Identifier: MIT */
/*
 * io.h - plain descriptors
 *
 * Each call tries first and parks the fiber where the descriptor is not ready; a plain thread
 * blocks in poll(2). File status flags stay as the program set them: a blocking descriptor does not
 * block a carrier. Deadlines are absolute nanoseconds on fiber_now()'s clock. Besides the errors of
 * the system call of the same name: -ETIMEDOUT past the deadline, -ECANCELED in a cancelled fiber,
 * -EBADF when the descriptor is closed with fiber_close() meanwhile, -EDEADLK in a pinned fiber
 * under FIBER_PINNED_ERROR. EINTR is never returned. A descriptor that fibers have waited on is
 * closed with fiber_close(). No call is async-signal-safe.
 */
#ifndef FIBER_IO_H
#define FIBER_IO_H

#include <sys/socket.h>
#include <sys/types.h>

#include <fiber/api.h>

FIBER_BEGIN_DECLS

/* Bytes moved, 0 at end of file; short counts as with read(2) and write(2). */
FIBER_API ssize_t fiber_read(int fd, void *buf, size_t size, int64_t deadline);
FIBER_API ssize_t fiber_write(int fd, const void *buf, size_t size, int64_t deadline);

/* The new descriptor, close-on-exec and otherwise with the flags accept(2) gives it. */
FIBER_API int fiber_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, int64_t deadline);

/* 0 when connected. After -ETIMEDOUT the attempt goes on in the system: close the socket. */
FIBER_API int fiber_connect(int fd, const struct sockaddr *addr, socklen_t addrlen,
			    int64_t deadline);

/* Wait until one of events (poll(2)'s bits) is so; returns those that are, POLLERR and POLLHUP
 * included. */
FIBER_API int fiber_wait_fd(int fd, short events, int64_t deadline);

/* close(2), after waking every fiber that waits on the descriptor with -EBADF. A pinned fiber, and a
 * thread, waits for it in the operating system and is not woken. */
FIBER_API int fiber_close(int fd);

FIBER_END_DECLS

#endif
