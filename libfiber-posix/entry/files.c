/* SPDX-License-Identifier: MIT */
/*
 * files.c - open(2), fsync(2), flock(2) and their variants
 *
 * Calls that open a file inform libfiber, from plain threads too.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fiber/posix.h>

#include "call/open.h"
#include "entry/checked.h"
#include "entry/entry.h"
#include "entry/own.h"
#include "system/system.h"

FPX_ENTRY int open(const char *path, int flags, ...)
{
	const mode_t mode = FPX_MODE_AFTER(flags);

	return fpx_opens_alone(FPX_CALLER) ? fpx_system.open(path, flags, mode)
					   : fiber_posix_open(path, flags, mode);
}

FPX_ENTRY int openat(int dir, const char *path, int flags, ...)
{
	const mode_t mode = FPX_MODE_AFTER(flags);

	return fpx_opens_alone(FPX_CALLER) ? fpx_system.openat(dir, path, flags, mode)
					   : fiber_posix_openat(dir, path, flags, mode);
}

FPX_ENTRY int creat(const char *path, mode_t mode)
{
	return fpx_opens_alone(FPX_CALLER) ? fpx_system.creat(path, mode)
					   : fiber_posix_creat(path, mode);
}

FPX_ENTRY int fsync(int fd)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_fsync(fd) : fpx_system.fsync(fd);
}

FPX_ENTRY int fdatasync(int fd)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_fdatasync(fd) : fpx_system.fdatasync(fd);
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

/* -- other names of the same functions, and those that fortified programs call -- */

FPX_ALIAS(open) int open64(const char *path, int flags, ...);
FPX_ALIAS(openat) int openat64(int dir, const char *path, int flags, ...);
FPX_ALIAS(creat) int creat64(const char *path, mode_t mode);
FPX_ALIAS(lockf) int lockf64(int fd, int command, off64_t size);

int __open_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);

FPX_ENTRY int __open_2(const char *path, int flags)
{
	fpx_check_mode("open", flags);
	return fpx_opens_alone(FPX_CALLER) ? fpx_system.open(path, flags, 0)
					   : fiber_posix_open(path, flags);
}

FPX_ENTRY int __openat_2(int dir, const char *path, int flags)
{
	fpx_check_mode("openat", flags);
	return fpx_opens_alone(FPX_CALLER) ? fpx_system.openat(dir, path, flags, 0)
					   : fiber_posix_openat(dir, path, flags);
}

FPX_ALIAS(__open_2) int __open64_2(const char *path, int flags);
FPX_ALIAS(__openat_2) int __openat64_2(int dir, const char *path, int flags);
