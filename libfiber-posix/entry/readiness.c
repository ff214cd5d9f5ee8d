/* SPDX-License-Identifier: MIT */
/* readiness.c - poll(2), select(2), epoll_wait(2) and their variants */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include <fiber/posix.h>

#include "entry/checked.h"
#include "entry/entry.h"
#include "system/system.h"

FPX_ENTRY int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_poll(fds, n, timeout)
				      : fpx_system.poll(fds, n, timeout);
}

FPX_ENTRY int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		    const sigset_t *mask)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_ppoll(fds, n, timeout, mask)
				      : fpx_system.ppoll(fds, n, timeout, mask);
}

FPX_ENTRY int select(int n, fd_set *in, fd_set *out, fd_set *rare, struct timeval *timeout)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_select(n, in, out, rare, timeout)
				      : fpx_system.select(n, in, out, rare, timeout);
}

FPX_ENTRY int pselect(int n, fd_set *in, fd_set *out, fd_set *rare, const struct timespec *timeout,
		      const sigset_t *mask)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_pselect(n, in, out, rare, timeout, mask)
				      : fpx_system.pselect(n, in, out, rare, timeout, mask);
}

FPX_ENTRY int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_epoll_wait(fd, events, max, timeout)
				      : fpx_system.epoll_wait(fd, events, max, timeout);
}

FPX_ENTRY int epoll_pwait(int fd, struct epoll_event *events, int max, int timeout,
			  const sigset_t *mask)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_epoll_pwait(fd, events, max, timeout, mask)
				      : fpx_system.epoll_pwait(fd, events, max, timeout, mask);
}

/* -- other names of the same functions, and those that fortified programs call -- */

FPX_ALIAS(poll) int __poll(struct pollfd *fds, nfds_t n, int timeout);
FPX_ALIAS(select)
int __select(int n, fd_set *in, fd_set *out, fd_set *rare, struct timeval *timeout);

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
		size_t room);

FPX_ENTRY int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	fpx_check_room(n, room / sizeof *fds);
	return fpx_passes(FPX_CALLER) ? fiber_posix_poll(fds, n, timeout)
				      : fpx_system.poll(fds, n, timeout);
}

FPX_ENTRY int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
			  const sigset_t *mask, size_t room)
{
	fpx_check_room(n, room / sizeof *fds);
	return fpx_passes(FPX_CALLER) ? fiber_posix_ppoll(fds, n, timeout, mask)
				      : fpx_system.ppoll(fds, n, timeout, mask);
}
