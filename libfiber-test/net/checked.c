/* SPDX-License-Identifier: MIT */
/* checked.c - what the functions of net/ are called as in programs compiled with _FORTIFY_SOURCE */
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "net/linked.h"

const char fib_net_checked;

/* Libc's: prints "buffer overflow detected" and aborts. */
_Noreturn void __chk_fail(void);

ssize_t __read_chk(int fd, void *buf, size_t size, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t size, size_t room, int flags,
		       struct sockaddr *from, socklen_t *length);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
		size_t room);

ssize_t __read_chk(int fd, void *buf, size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
	return read(fd, buf, size);
}

ssize_t __recv_chk(int fd, void *buf, size_t size, size_t room, int flags)
{
	if (size > room)
		__chk_fail();
	return recv(fd, buf, size, flags);
}

ssize_t __recvfrom_chk(int fd, void *buf, size_t size, size_t room, int flags,
		       struct sockaddr *from, socklen_t *length)
{
	if (size > room)
		__chk_fail();
	return recvfrom(fd, buf, size, flags, from, length);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	if (n > room / sizeof *fds)
		__chk_fail();
	return poll(fds, n, timeout);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
		size_t room)
{
	if (n > room / sizeof *fds)
		__chk_fail();
	return ppoll(fds, n, timeout, mask);
}
