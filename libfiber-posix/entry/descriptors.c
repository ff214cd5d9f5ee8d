/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c - socket(2), accept(2), connect(2), close(2), dup2(2), fcntl(2)
 *
 * Calls that close or replace a descriptor inform libfiber, from plain threads too.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fiber/posix.h>

#include "call/descriptor.h"
#include "entry/entry.h"
#include "entry/own.h"
#include "system/system.h"

/* The number is new, and its end will be seen: waits for it need fewer system calls. */
FPX_ENTRY int socket(int domain, int type, int protocol)
{
	const int fd = fpx_system.socket(domain, type, protocol);

	if (fd >= 0 && !fpx_is_own(FPX_CALLER) && fpx_informs())
		fpx_meet(fd);
	return fd;
}

FPX_ENTRY int accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_accept(fd, addr, addrlen)
				      : fpx_system.accept(fd, addr, addrlen);
}

FPX_ENTRY int accept4(int fd, struct sockaddr *addr, socklen_t *addrlen, int flags)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_accept4(fd, addr, addrlen, flags)
				      : fpx_system.accept4(fd, addr, addrlen, flags);
}

FPX_ENTRY int connect(int fd, const struct sockaddr *addr, socklen_t addrlen)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_connect(fd, addr, addrlen)
				      : fpx_system.connect(fd, addr, addrlen);
}

FPX_ENTRY int close(int fd)
{
	if (fpx_is_own(FPX_CALLER))
		return fpx_system.close(fd);
	fpx_pass_point();
	return fiber_posix_close(fd);
}

FPX_ENTRY int dup2(int fd, int newfd)
{
	return fpx_is_own(FPX_CALLER) ? fpx_system.dup2(fd, newfd) : fiber_posix_dup2(fd, newfd);
}

FPX_ENTRY int dup3(int fd, int newfd, int flags)
{
	return fpx_is_own(FPX_CALLER) ? fpx_system.dup3(fd, newfd, flags)
				      : fiber_posix_dup3(fd, newfd, flags);
}

FPX_ENTRY int fcntl(int fd, int command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	return fpx_enters(FPX_CALLER) ? fiber_posix_fcntl(fd, command, arg)
				      : fpx_system.fcntl(fd, command, arg);
}

/* With flags the system may refuse the call, which then closes nothing. */
FPX_ENTRY int close_range(unsigned first, unsigned last, int flags)
{
	int rc;

	if (!flags)
		fpx_forget_range(first, last);
	rc = fpx_system.close_range(first, last, flags);
	if (rc == 0 && flags && !(flags & CLOSE_RANGE_CLOEXEC))
		fpx_forget_range(first, last);
	return rc;
}

/* That of the C library alone would close the descriptors without informing libfiber. */
FPX_ENTRY void closefrom(int low)
{
	fpx_forget_range(low > 0 ? (unsigned)low : 0, ~0U);
	fpx_system.closefrom(low);
}

/* -- other names of the same functions -- */

FPX_ALIAS(connect) int __connect(int fd, const struct sockaddr *addr, socklen_t addrlen);
FPX_ALIAS(close) int __close(int fd);
FPX_ALIAS(dup2) int __dup2(int fd, int newfd) __THROW;
FPX_ALIAS(fcntl) int fcntl64(int fd, int command, ...);
FPX_ALIAS(fcntl) int __fcntl(int fd, int command, ...);
