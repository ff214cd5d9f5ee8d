/* SPDX-License-Identifier: MIT */
/* files.c - flock(2) and lockf(3) */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fiber/posix.h>

#include "entry/entry.h"
#include "system/system.h"

FPX_ENTRY int flock(int fd, int operation)
{
	return fpx_enters(FPX_CALLER) ? fiber_posix_flock(fd, operation)
				      : fpx_system.flock(fd, operation);
}

FPX_ENTRY int lockf(int fd, int command, off_t size)
{
	return fpx_enters(FPX_CALLER) ? fiber_posix_lockf(fd, command, size)
				      : fpx_system.lockf(fd, command, size);
}

/* -- another name of the same function -- */

FPX_ALIAS(lockf) int lockf64(int fd, int command, off64_t size);
