/* SPDX-License-Identifier: MIT */
/* identity.c - tell open files apart; a file of its own, so that a test can replace it */
#include <sys/stat.h>

#include "base/compiler.h"
#include "os/os.h"

fib_noinline uint64_t fib_os_identity(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return 0;
	/* Device numbers are small, and inode numbers seldom use more than half of their bits. */
	return ((uint64_t)st.st_dev << 40 ^ (uint64_t)st.st_ino) | UINT64_C(1) << 63;
}
