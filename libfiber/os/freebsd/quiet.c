/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - write to a pipe without a reader, without SIGPIPE
 *
 * As in os/linux/quiet.c: SIGPIPE goes to the thread that writes. The thread blocks it for the call, and
 * consumes it if it came.
 */
#include "os/quiet.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "base/compiler.h"

static void only_sigpipe(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGPIPE);
}

/* Block the signal. Returns whether one was pending, which implies that it was blocked before. */
static bool hush(sigset_t *ret_before)
{
	sigset_t set;

	only_sigpipe(&set);
	pthread_sigmask(SIG_BLOCK, &set, ret_before);
	return sigismember(ret_before, SIGPIPE) == 1 && sigpending(&set) == 0 &&
	       sigismember(&set, SIGPIPE) == 1;
}

/* Consume the signal. None is pending if the program ignores it. */
static void take(void)
{
	const struct timespec now = {0, 0};
	sigset_t set;

	only_sigpipe(&set);
	while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
		;
}

fib_noinline ssize_t fib_os_quiet_writev(int fd, const struct iovec *v, int count, int flags)
{
	sigset_t before;
	bool pending;
	ssize_t n;
	int error;

	/* There is no RWF_NOWAIT. */
	if (flags) {
		errno = EOPNOTSUPP;
		return -1;
	}
	pending = hush(&before);
	n = writev(fd, v, count);
	error = errno;
	if (n < 0 && error == EPIPE && !pending)
		take();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return n;
}
