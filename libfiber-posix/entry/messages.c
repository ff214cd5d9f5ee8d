/* SPDX-License-Identifier: MIT */
/* messages.c - recv(2), send(2) and their variants */
#include <sys/socket.h>

#include <fiber/posix.h>

#include "entry/checked.h"
#include "entry/entry.h"
#include "system/system.h"

FPX_ENTRY ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_recv(fd, buf, size, flags)
				      : fpx_system.recv(fd, buf, size, flags);
}

FPX_ENTRY ssize_t recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
			   socklen_t *addrlen)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_recvfrom(fd, buf, size, flags, addr, addrlen)
				      : fpx_system.recvfrom(fd, buf, size, flags, addr, addrlen);
}

FPX_ENTRY ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_recvmsg(fd, msg, flags)
				      : fpx_system.recvmsg(fd, msg, flags);
}

FPX_ENTRY ssize_t send(int fd, const void *buf, size_t size, int flags)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_send(fd, buf, size, flags)
				      : fpx_system.send(fd, buf, size, flags);
}

FPX_ENTRY ssize_t sendto(int fd, const void *buf, size_t size, int flags,
			 const struct sockaddr *addr, socklen_t addrlen)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_sendto(fd, buf, size, flags, addr, addrlen)
				      : fpx_system.sendto(fd, buf, size, flags, addr, addrlen);
}

FPX_ENTRY ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_sendmsg(fd, msg, flags)
				      : fpx_system.sendmsg(fd, msg, flags);
}

FPX_ENTRY int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
		       struct timespec *timeout)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_recvmmsg(fd, messages, count, flags, timeout)
				      : fpx_system.recvmmsg(fd, messages, count, flags, timeout);
}

FPX_ENTRY int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_sendmmsg(fd, messages, count, flags)
				      : fpx_system.sendmmsg(fd, messages, count, flags);
}

/* -- other names of the same functions, and those that fortified programs call -- */

FPX_ALIAS(send) ssize_t __send(int fd, const void *buf, size_t size, int flags);

ssize_t __recv_chk(int fd, void *buf, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t size, size_t room, int flags,
		       struct sockaddr *addr, socklen_t *addrlen);

FPX_ENTRY ssize_t __recv_chk(int fd, void *buf, size_t size, size_t room, int flags)
{
	fpx_check_room(size, room);
	return fpx_passes(FPX_CALLER) ? fiber_posix_recv(fd, buf, size, flags)
				      : fpx_system.recv(fd, buf, size, flags);
}

FPX_ENTRY ssize_t __recvfrom_chk(int fd, void *buf, size_t size, size_t room, int flags,
				 struct sockaddr *addr, socklen_t *addrlen)
{
	fpx_check_room(size, room);
	return fpx_passes(FPX_CALLER) ? fiber_posix_recvfrom(fd, buf, size, flags, addr, addrlen)
				      : fpx_system.recvfrom(fd, buf, size, flags, addr, addrlen);
}
