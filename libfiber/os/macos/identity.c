/* SPDX-License-Identifier: MIT */
/*
 * identity.c - tell open files apart
 *
 * fstat(2) has a number for a file and for each end of a pipe, and none for a socket. proc_info(2) has
 * one for a socket.
 */
#include <libproc.h>
#include <sys/proc_info.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/os.h"

static uint64_t socket_number(int fd)
{
	struct socket_fdinfo info;

	if (proc_pidfdinfo(getpid(), fd, PROC_PIDFDSOCKETINFO, &info, sizeof info) !=
	    (int)sizeof info)
		return 0;
	return info.psi.soi_so;
}

fib_noinline uint64_t fib_os_identity(int fd)
{
	struct stat st;
	uint64_t number;

	if (fstat(fd, &st) < 0)
		return 0;
	number = S_ISSOCK(st.st_mode) ? socket_number(fd) : (uint64_t)st.st_ino;
	return ((uint64_t)st.st_dev << 40 ^ number) | UINT64_C(1) << 63;
}
