/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - write to a pipe without a reader, without SIGPIPE
 *
 * Sockets have a flag per call (MSG_NOSIGNAL), and since Linux 6.18 other files do too
 * (RWF_NOSIGNAL). Before that the write raises SIGPIPE, which kills a program that does not handle
 * it.
 *
 * The disposition of the signal belongs to the program and is not changed. But SIGPIPE goes to
 * the thread that writes. So the thread blocks it for the call, consumes it if it came, and
 * restores its mask. One that was pending before is left pending.
 *
 * The cost is two system calls, or none on a newer kernel. Sockets do not use this.
 */
#include "os/quiet.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/os.h"

#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x00000100
#endif

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

/*
 * Consume the pending signal. A signal that the program ignores becomes pending too while blocked.
 */
static void take(void)
{
	const struct timespec now = {0, 0};
	sigset_t set;

	only_sigpipe(&set);
	while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
		;
}

static ssize_t writev_hushed(int fd, const struct iovec *v, int count, int flags)
{
	sigset_t before;
	bool pending = hush(&before);
	ssize_t n = flags ? pwritev2(fd, v, count, -1, flags) : writev(fd, v, count);
	int error = errno;

	if (n < 0 && error == EPIPE && !pending)
		take();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return n;
}

fib_noinline ssize_t fib_os_quiet_writev(int fd, const struct iovec *v, int count, int flags)
{
	static _Atomic int unknown; /* the kernel does not know the flag: do not try again */
	ssize_t n;

	if (!fib_load(&unknown)) {
		n = pwritev2(fd, v, count, -1, flags | RWF_NOSIGNAL);
		if (n >= 0 || (errno != EOPNOTSUPP && !fib_os_is_refusal(-errno)))
			return n;
	}
	n = writev_hushed(fd, v, count, flags);
	/* The write works with only the other flag, so RWF_NOSIGNAL is the unknown one. */
	if (n >= 0 && flags)
		fib_store(&unknown, 1);
	return n;
}
