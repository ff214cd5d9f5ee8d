/* SPDX-License-Identifier: MIT */
/*
 * calls.c - recv and send through the C library, so that a sanitizer sees what they read and write
 */
#include "os/calls.h"

#include <errno.h>
#include <sys/socket.h>

ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	ssize_t n = recv(fd, buf, size, flags);

	return n < 0 ? -errno : n;
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	ssize_t n = send(fd, buf, size, flags);

	return n < 0 ? -errno : n;
}
