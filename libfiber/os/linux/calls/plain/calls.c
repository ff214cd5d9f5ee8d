/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the two system calls that a server makes for each request, without what the C library puts around them
 *
 * Its recv() and send() are points where a thread may be cancelled, which a program with threads pays two locked
 * instructions for, each time. These never wait, so there is nothing to be cancelled in.
 */
#include "os/calls.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	ssize_t n = syscall(SYS_recvfrom, fd, buf, size, flags, NULL, NULL);

	return n < 0 ? -errno : n;
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	ssize_t n = syscall(SYS_sendto, fd, buf, size, flags, NULL, 0);

	return n < 0 ? -errno : n;
}
