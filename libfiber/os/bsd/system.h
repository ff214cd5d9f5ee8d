/* SPDX-License-Identifier: MIT */
/*
 * system.h - what the files of os/bsd need that each of its systems does in its own way
 *
 * The folders freebsd and macos implement it. Functions return the negative errno, as in os.h.
 */
#ifndef FIB_OS_BSD_SYSTEM_H
#define FIB_OS_BSD_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* -- descriptor.c: new descriptors, close-on-exec -- */
int fib_bsd_pipe(int fds[2]);	/* both ends non-blocking; fds is unchanged after an error */
/* accept(2), which may wait. The new descriptor does not inherit O_NONBLOCK of the listener. */
int fib_bsd_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, bool nonblocking);

/* -- calls.c -- */
/* sendmsg(2) that does not wait on a blocking socket either, and does not raise SIGPIPE. */
ssize_t fib_bsd_sendmsg(int fd, const struct msghdr *msg, int flags);

/* -- pages.c -- */
/* Advice: core files have these pages, or do not have them. */
void fib_bsd_in_cores(void *at, size_t size, bool in);

/* -- process.c -- */
pid_t fib_bsd_peer(int fd); /* the process at the other end of a local socket; 0: not known */

#endif
