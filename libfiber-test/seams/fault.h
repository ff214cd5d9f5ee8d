/* SPDX-License-Identifier: MIT */
/* fault.h - where a public call may fail: the library under test */
#ifndef FIB_BASE_FAULT_H
#define FIB_BASE_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

struct fiber;

/* What a call needs. Each has its errors in explore/fault.c. */
enum fib_fault {
	FIB_FAULT_MEMORY,
	FIB_FAULT_SPAWN,
	FIB_FAULT_THREAD,
	FIB_FAULT_ACCEPT,
	FIB_FAULT_CONNECT,
	FIB_FAULT_DESCRIPTOR,
};

/* 0, or the negative errno that the call must return. Outside a fiber of a schedule: 0. */
int fib_explore_fault(enum fib_fault what);
int fib_explore_fault_open(int flags);

/* Before a fiber waits; NULL: a thread waits. The fiber may be cancelled here. */
int fib_explore_fault_wait(struct fiber *fiber, int64_t deadline);

bool fib_explore_fault_spurious(void);

/*
 * Before bytes move. May set *size to 1, or *pieces to *part, one byte. Returns 0, or the negative
 * errno that the call must return.
 */
ssize_t fib_fault_transfer(int fd, size_t *size, bool writing);
ssize_t fib_fault_vector(int fd, const struct iovec **pieces, int *count, struct iovec *part,
			 bool writing);

/* A message of which fewer bytes move than the caller asked for. */
struct fib_part {
	bool is_used;
	struct msghdr msg; /* with one byte */
	struct iovec byte;
};

/*
 * Before a message moves. May set *part to its first byte, with its control data: on a stream, and
 * not where flags ask for the whole. Returns as fib_fault_transfer().
 */
ssize_t fib_fault_message(int fd, const struct msghdr *msg, int flags, struct fib_part *part,
			  bool writing);

/* What to pass to the system in place of msg. */
#define fib_part_of(part, message) ((part)->is_used ? &(part)->msg : (message))

/* Hand on what a received part has beside bytes. */
void fib_part_received(const struct fib_part *part, struct msghdr *msg);

#define fib_fault(what)			fib_explore_fault(FIB_FAULT_##what)
#define fib_fault_open(flags)		fib_explore_fault_open(flags)
#define fib_fault_wait(fiber, deadline) fib_explore_fault_wait((fiber), (deadline))
#define fib_fault_spurious()		fib_explore_fault_spurious()

#endif
