/* SPDX-License-Identifier: MIT */
/*
 * event.c - the waker and the timer of the service thread: each is a kqueue that poll(2) finds readable
 *
 * A kqueue that has a pending event is readable. The waker has one event of EVFILT_USER, which
 * fib_os_event_set() triggers. The timer has one event of EVFILT_TIMER.
 *
 * A kqueue is not inherited by a forked child: its number is free there.
 */
#include "os/local.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/os.h"

/*
 * Changes of a timer by the kernel, to save energy, would delay the tick of the service thread.
 * macOS has this flag, FreeBSD changes none.
 */
#ifdef NOTE_CRITICAL
#define EXACT NOTE_CRITICAL
#else
#define EXACT 0u
#endif

/* The number of an event is this address: a kqueue of the program has no event with it. */
static char ours;

static int change(int fd, short filter, unsigned flags, unsigned note, int64_t data)
{
	struct kevent event;

	EV_SET(&event, (uintptr_t)&ours, filter, (unsigned short)flags, note, (intptr_t)data, NULL);
	return kevent(fd, &event, 1, NULL, 0, NULL) < 0 ? -errno : 0;
}

/* A kqueue with an event that is not triggered. */
static int new_queue(void)
{
	const int fd = kqueue();
	int rc;

	if (fd < 0)
		return -errno;
	rc = fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
	if (rc == 0)
		rc = change(fd, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0);
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

fib_noinline int fib_os_event(void)
{
	return new_queue();
}

fib_noinline void fib_os_event_set(int fd)
{
	const int saved = errno;

	change(fd, EVFILT_USER, 0, NOTE_TRIGGER, 0);
	errno = saved;
}

fib_noinline void fib_os_event_clear(int fd)
{
	const struct timespec now = {0, 0};
	struct kevent event;

	/* EV_CLEAR resets the event when it is taken. */
	kevent(fd, NULL, 0, &event, 1, &now);
}

/* A timer is told by its event of EVFILT_USER, which is never triggered. */
fib_noinline int fib_os_timer(void)
{
	return new_queue();
}

fib_noinline bool fib_os_timer_ours(int fd)
{
	/* Enabling an enabled event changes nothing. ENOENT: it is not there; EBADF: no kqueue. */
	return change(fd, EVFILT_USER, EV_ENABLE, 0, 0) == 0;
}

/*
 * The time in microseconds, rounded up. FreeBSD 10 takes the fraction of a second that is given in
 * nanoseconds for one in microseconds.
 */
static int64_t us_until(int64_t at)
{
	const int64_t left = at - fib_os_now();

	return left > 0 ? left / 1000 + 1 : 1;
}

fib_noinline bool fib_os_timer_set(int fd, int64_t at)
{
	if (!fib_os_timer_ours(fd))
		return false;
	/*
	 * Adding a timer that is there does not start it anew on each system, and one that has
	 * expired stays readable. ENOENT: there is none.
	 */
	change(fd, EVFILT_TIMER, EV_DELETE, 0, 0);
	if (at)
		change(fd, EVFILT_TIMER, EV_ADD | EV_ONESHOT, NOTE_USECONDS | EXACT, us_until(at));
	return true;
}
