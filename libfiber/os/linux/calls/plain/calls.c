/* SPDX-License-Identifier: MIT */
/*
 * calls.c - recv and send without the C library's overhead
 *
 * A server makes these two calls for each request. recv() and send() of the C library are
 * cancellation points, which costs two locked instructions per call in a program with threads.
 * These calls never wait, so they need not be.
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
