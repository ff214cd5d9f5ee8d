/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - write to a pipe without a reader, without SIGPIPE
 *
 * The signal goes to the process: any thread gets it, and blocking it in this one does not help. But a
 * file has a flag that there is no signal. It is set for the call and restored.
 *
 * Two calls at a time may restore the flag in the wrong order: then it may stay set, or a signal may
 * come in between. A spin lock must not be held here, because the write may wait.
 */
#include "os/quiet.h"

#include <errno.h>
#include <fcntl.h>

#include "base/compiler.h"

fib_noinline ssize_t fib_os_quiet_writev(int fd, const struct iovec *v, int count, int flags)
{
	ssize_t n;
	int was, error;

	/* There is no RWF_NOWAIT. */
	if (flags) {
		errno = EOPNOTSUPP;
		return -1;
	}
	was = fcntl(fd, F_GETNOSIGPIPE);
	if (was == 0)
		fcntl(fd, F_SETNOSIGPIPE, 1);
	n = writev(fd, v, count);
	error = errno;
	if (was == 0)
		fcntl(fd, F_SETNOSIGPIPE, 0);
	errno = error;
	return n;
}
