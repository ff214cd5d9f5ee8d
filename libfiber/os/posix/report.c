/* SPDX-License-Identifier: MIT */
/* report.c - functions for reports that may be made in a signal handler */
#include "os/os.h"

#include <errno.h>
#include <unistd.h>

#include "base/compiler.h"

#define PATIENCE 1000 /* ms to wait for a reader */

fib_noinline int fib_os_error_kept(void)
{
	return errno;
}

fib_noinline void fib_os_error_restore(int kept)
{
	errno = kept;
}

fib_noinline int fib_os_write_all(int fd, const void *buf, size_t size)
{
	const char *at = buf;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n > 0) {
			at += n;
			size -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			struct pollfd p = {.fd = fd, .events = POLLOUT};

			if (poll(&p, 1, PATIENCE) == 0)
				return -EAGAIN;
		} else if (n < 0 && errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}
