/* SPDX-License-Identifier: MIT */
/* bytes.c - read(2), write(2) and their variants, sendfile(2), splice(2) */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fiber/posix.h>

#include "entry/checked.h"
#include "entry/entry.h"
#include "system/system.h"

FPX_ENTRY ssize_t read(int fd, void *buf, size_t size)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_read(fd, buf, size)
				      : fpx_system.read(fd, buf, size);
}

FPX_ENTRY ssize_t write(int fd, const void *buf, size_t size)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_write(fd, buf, size)
				      : fpx_system.write(fd, buf, size);
}

FPX_ENTRY ssize_t readv(int fd, const struct iovec *pieces, int count)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_readv(fd, pieces, count)
				      : fpx_system.readv(fd, pieces, count);
}

FPX_ENTRY ssize_t writev(int fd, const struct iovec *pieces, int count)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_writev(fd, pieces, count)
				      : fpx_system.writev(fd, pieces, count);
}

FPX_ENTRY ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_pread(fd, buf, size, offset)
				      : fpx_system.pread(fd, buf, size, offset);
}

FPX_ENTRY ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_pwrite(fd, buf, size, offset)
				      : fpx_system.pwrite(fd, buf, size, offset);
}

FPX_ENTRY ssize_t sendfile(int out, int in, off_t *offset, size_t size)
{
	return fpx_enters(FPX_CALLER) ? fiber_posix_sendfile(out, in, offset, size)
				      : fpx_system.sendfile(out, in, offset, size);
}

FPX_ENTRY ssize_t preadv(int fd, const struct iovec *pieces, int count, off_t offset)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_preadv(fd, pieces, count, offset)
				      : fpx_system.preadv(fd, pieces, count, offset);
}

FPX_ENTRY ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_pwritev(fd, pieces, count, offset)
				      : fpx_system.pwritev(fd, pieces, count, offset);
}

FPX_ENTRY ssize_t preadv2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_preadv2(fd, pieces, count, offset, flags)
				      : fpx_system.preadv2(fd, pieces, count, offset, flags);
}

FPX_ENTRY ssize_t pwritev2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_pwritev2(fd, pieces, count, offset, flags)
				      : fpx_system.pwritev2(fd, pieces, count, offset, flags);
}

FPX_ENTRY ssize_t splice(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t size,
			 unsigned flags)
{
	return fpx_passes(FPX_CALLER)
		       ? fiber_posix_splice(in, in_offset, out, out_offset, size, flags)
		       : fpx_system.splice(in, in_offset, out, out_offset, size, flags);
}

/* -- other names of the same functions, and those that fortified programs call -- */

FPX_ALIAS(read) ssize_t __read(int fd, void *buf, size_t size);
FPX_ALIAS(write) ssize_t __write(int fd, const void *buf, size_t size);
FPX_ALIAS(pread) ssize_t pread64(int fd, void *buf, size_t size, off64_t offset);
FPX_ALIAS(pread) ssize_t __pread64(int fd, void *buf, size_t size, off64_t offset);
FPX_ALIAS(pwrite) ssize_t pwrite64(int fd, const void *buf, size_t size, off64_t offset);
FPX_ALIAS(pwrite) ssize_t __pwrite64(int fd, const void *buf, size_t size, off64_t offset);
FPX_ALIAS(preadv)
ssize_t preadv64(int fd, const struct iovec *pieces, int count, off64_t offset);
FPX_ALIAS(pwritev)
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t offset);
FPX_ALIAS(preadv2)
ssize_t preadv64v2(int fd, const struct iovec *pieces, int count, off64_t offset, int flags);
FPX_ALIAS(pwritev2)
ssize_t pwritev64v2(int fd, const struct iovec *pieces, int count, off64_t offset, int flags);
FPX_ALIAS(sendfile) ssize_t sendfile64(int out, int in, off64_t *offset, size_t size);

ssize_t __read_chk(int fd, void *buf, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t size, off_t offset, size_t room);

FPX_ENTRY ssize_t __read_chk(int fd, void *buf, size_t size, size_t room)
{
	fpx_check_room(size, room);
	return fpx_passes(FPX_CALLER) ? fiber_posix_read(fd, buf, size)
				      : fpx_system.read(fd, buf, size);
}

FPX_ENTRY ssize_t __pread_chk(int fd, void *buf, size_t size, off_t offset, size_t room)
{
	fpx_check_room(size, room);
	return fpx_passes(FPX_CALLER) ? fiber_posix_pread(fd, buf, size, offset)
				      : fpx_system.pread(fd, buf, size, offset);
}

FPX_ALIAS(__pread_chk)
ssize_t __pread64_chk(int fd, void *buf, size_t size, off64_t offset, size_t room);
