/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - writing to a pipe without a reader gives an error and no signal
 *
 * A socket is asked so per call (MSG_NOSIGNAL), and since Linux 6.18 so is every other file (RWF_NOSIGNAL). Before
 * that there is SIGPIPE, which ends a program that has not thought of it. What a program does with the signal is not ours
 * to change. But the signal goes to the thread that writes: so that thread keeps it off for the call, takes it
 * when it has come, and is as before. One that was pending before is not ours, and stays.
 *
 * That costs two system calls, or none on a newer kernel, and is nothing that a socket goes through.
 */
#include "os/quiet.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"

#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x00000100
#endif

static void only_sigpipe(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGPIPE);
}

/* Keep the signal off. Whether one was pending already, which is only so where it was kept off before. */
static bool hush(sigset_t *ret_before)
{
	sigset_t set;

	only_sigpipe(&set);
	pthread_sigmask(SIG_BLOCK, &set, ret_before);
	return sigismember(ret_before, SIGPIPE) == 1 && sigpending(&set) == 0 &&
	       sigismember(&set, SIGPIPE) == 1;
}

/* Take the signal, which has come. Also one that the program ignores comes while it is kept off. */
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
	static _Atomic int
		unknown; /* the kernel does not know the flag: it need not be asked again */
	ssize_t n;

	if (!fib_load(&unknown)) {
		n = pwritev2(fd, v, count, -1, flags | RWF_NOSIGNAL);
		if (n >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
			return n;
	}
	n = writev_hushed(fd, v, count, flags);
	/* It did what it could not do with the flag; and that was not for want of another one. */
	if (n >= 0 && flags)
		fib_store(&unknown, 1);
	return n;
}
