/* SPDX-License-Identifier: MIT */
/* files.c - fsync(2), flock(2) and their variants */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fiber/posix.h>

#include "entry/entry.h"
#include "system/system.h"

FPX_ENTRY int fsync(int fd)
{
	return fpx_enters(FPX_CALLER) ? fiber_posix_fsync(fd) : fpx_system.fsync(fd);
}

FPX_ENTRY int fdatasync(int fd)
{
	return fpx_enters(FPX_CALLER) ? fiber_posix_fdatasync(fd) : fpx_system.fdatasync(fd);
}

FPX_ENTRY int sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags)
{
	return fpx_enters(FPX_CALLER) ? fiber_posix_sync_file_range(fd, offset, size, flags)
				      : fpx_system.sync_file_range(fd, offset, size, flags);
}

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
