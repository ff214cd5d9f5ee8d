/* SPDX-License-Identifier: MIT */
/* kept.c - files that are opened once and kept open */
#include "os/kept.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/local.h"
#include "os/os.h"

int fib_os_keep(struct fib_os_kept *kept, const char *path)
{
	const int fd = fib_os_open(path);

	kept->fd = fd < 0 ? -1 : fd;
	kept->identity = fd < 0 ? 0 : fib_os_identity(fd);
	return fd < 0 ? fd : 0;
}

fib_noinline bool fib_os_same(int fd, uint64_t identity)
{
	uint64_t now;

	if (fd < 0 || !identity)
		return false;
	errno = 0;
	now = fib_os_identity(fd);
	return now ? now == identity : fib_os_is_refusal(-errno);
}

bool fib_os_kept_ours(const struct fib_os_kept *kept)
{
	return fib_os_same(kept->fd, kept->identity);
}

void fib_os_kept_close(struct fib_os_kept *kept)
{
	const struct fib_os_kept old = *kept;

	/* First: a child forked in the middle of this closes what it finds. */
	*kept = FIB_OS_NOT_KEPT;
	fib_fence_release();
	if (fib_os_kept_ours(&old))
		fib_os_close(old.fd);
}
