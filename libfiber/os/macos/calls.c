/* SPDX-License-Identifier: MIT */
/*
 * calls.c - send and receive on sockets without waiting
 *
 * Sending does not look at MSG_DONTWAIT where the socket has no room: it waits, unless the socket is
 * non-blocking. So a blocking socket is made non-blocking for the call and restored. Senders that use
 * one socket take turns: otherwise the first would restore it while the second relies on it.
 *
 * The lock is held during a system call that does not wait. A forked child makes all locks free: their
 * holders are threads of its parent.
 */
#include "os/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "os/bsd/system.h"
#include "os/spin.h"

static struct {
	_Atomic uint32_t lock fib_aligned(FIB_CACHE_LINE);
} turns[64];

static void forget(void)
{
	size_t i;

	for (i = 0; i < fib_countof(turns); i++)
		fib_store(&turns[i].lock, 0);
}

static void take_turn(_Atomic uint32_t *lock)
{
	static _Atomic int prepared;

	if (!fib_load(&prepared) && !fib_swap(&prepared, 1)) {
		fib_os_stay_loaded();
		pthread_atfork(NULL, NULL, forget);
	}
	fib_spin_lock(lock);
}

ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	ssize_t n = recv(fd, buf, size, flags);

	return n < 0 ? -errno : n;
}

/* Under the lock. */
static ssize_t send_in_turn(int fd, const struct msghdr *msg, int flags)
{
	const int status = fcntl(fd, F_GETFL);
	ssize_t n;

	if (status < 0)
		return -errno;
	if (!(status & O_NONBLOCK) && fcntl(fd, F_SETFL, status | O_NONBLOCK) < 0)
		return -errno;
	n = sendmsg(fd, msg, flags | MSG_NOSIGNAL);
	if (n < 0)
		n = -errno;
	if (!(status & O_NONBLOCK))
		fcntl(fd, F_SETFL, status);
	return n;
}

ssize_t fib_bsd_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	_Atomic uint32_t *lock = &turns[(unsigned)fd % fib_countof(turns)].lock;
	ssize_t n;

	take_turn(lock);
	n = send_in_turn(fd, msg, flags);
	fib_spin_unlock(lock);
	return n;
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	struct iovec v = {(void *)(uintptr_t)buf, size};
	const struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	return fib_bsd_sendmsg(fd, &m, flags);
}
