/* SPDX-License-Identifier: MIT */
/*
 * identity.c - tell open files apart
 *
 * A local socket and each end of a pipe have a number of their own. Sockets of the internet have none:
 * all that are open have one identity. What is missing: a number that the program has closed, and that
 * is such a socket again, is taken for the old one.
 */
#include <sys/stat.h>

#include "base/compiler.h"
#include "os/os.h"

fib_noinline uint64_t fib_os_identity(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return 0;
	return ((uint64_t)st.st_dev << 40 ^ (uint64_t)st.st_ino) | UINT64_C(1) << 63;
}
