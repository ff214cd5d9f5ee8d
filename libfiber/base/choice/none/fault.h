/* SPDX-License-Identifier: MIT */
/*
 * fault.h - no injected faults: the library of production
 *
 * A public call names here how it may fail for want of something: memory, a thread, a descriptor, a
 * peer. libfiber-test compiles the same sources with a fault.h of its own, in which such a call may
 * fail. Here nothing is left in the machine code.
 */
#ifndef FIB_BASE_FAULT_H
#define FIB_BASE_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

static inline int fib_fault_none(void)
{
	return 0;
}

/* 0, or the negative errno that the call must return. what: MEMORY, SPAWN, ... */
#define fib_fault(what) fib_fault_none()

/* For an open with these flags. */
#define fib_fault_open(flags) fib_fault_none()

/* Before a fiber waits. The fiber may be cancelled here. */
#define fib_fault_wait(fiber, deadline) fib_fault_none()

/* True: the wait ends although no fiber has signalled. */
#define fib_fault_spurious() false

/* Before bytes move. *size and *pieces may be changed, so that fewer bytes move. */
static inline ssize_t fib_fault_transfer(int fd, size_t *size, bool writing)
{
	(void)fd;
	(void)size;
	(void)writing;
	return 0;
}

static inline ssize_t fib_fault_vector(int fd, const struct iovec **pieces, int *count,
				       struct iovec *part, bool writing)
{
	(void)fd;
	(void)pieces;
	(void)count;
	(void)part;
	(void)writing;
	return 0;
}

/* A message of which fewer bytes move than the caller asked for; here all move. */
struct fib_part {
	char unused;
};

static inline ssize_t fib_fault_message(int fd, const struct msghdr *msg, int flags,
					struct fib_part *part, bool writing)
{
	(void)fd;
	(void)msg;
	(void)flags;
	(void)part;
	(void)writing;
	return 0;
}

/* What to pass to the system in place of msg. */
#define fib_part_of(part, msg) ((void)sizeof(part), (msg))

/* Hand on what a received part has beside bytes. */
#define fib_part_received(part, msg) ((void)sizeof(part), (void)sizeof(msg))

#endif
