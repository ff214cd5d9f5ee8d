/* SPDX-License-Identifier: MIT */
/* identity.c - tell open files apart; a file of its own, so that a test can replace it */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/os.h"

/*
 * Another fiber may close fd at any time: then its identity is another one, or none. ThreadSanitizer takes fstat(3) for an
 * access that this close(2) races with, so it does not see the call.
 */
static int look(int fd, struct stat *ret)
{
#ifdef __SANITIZE_THREAD__
	return (int)syscall(SYS_newfstatat, fd, "", ret, AT_EMPTY_PATH);
#else
	return fstat(fd, ret);
#endif
}

fib_noinline uint64_t fib_os_identity(int fd)
{
	struct stat st;

	if (look(fd, &st) < 0)
		return 0;
	/* Device numbers are small, and inode numbers seldom use more than half of their bits. */
	return ((uint64_t)st.st_dev << 40 ^ (uint64_t)st.st_ino) | UINT64_C(1) << 63;
}
