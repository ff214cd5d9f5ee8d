/* SPDX-License-Identifier: MIT */
/*
 * calls.h - single system calls on sockets that do not wait (the caller passes MSG_DONTWAIT)
 *
 * Each folder beside this file implements them in its own way, and one is compiled. They have a
 * file of their own so that a test can replace them.
 */
#ifndef FIB_OS_LINUX_CALLS_H
#define FIB_OS_LINUX_CALLS_H

#include <stddef.h>
#include <sys/types.h>

/* Bytes, or a negative errno. */
ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags);
ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags);

#endif
