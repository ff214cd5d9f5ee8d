/* SPDX-License-Identifier: MIT */
/*
 * sleep.c - the program's own sleeps: in a schedule, virtual time
 *
 * In production these calls block the carrier, and fibers on other carriers go on. So the fiber is
 * set aside as a pinned one that waits is, and others run until its time has come. Outside fibers,
 * as in a blocking call on a helper thread (fiber_block), time passes at once, because all fibers
 * stand still meanwhile; but while main() of a whole program sleeps, they run. Outside a schedule
 * these functions ask the system.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libc/linked.h"
#include "os/aside.h"
#include "os/os.h"
#include "os/virtual.h"

const char fib_libc_sleep;

#define SECOND INT64_C(1000000000) /* ns */

static bool is_valid(const struct timespec *t)
{
	return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < SECOND;
}

/* ns; what does not fit: as long as can be expressed */
static int64_t to_ns(const struct timespec *t)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)t->tv_sec, SECOND, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)t->tv_nsec, &ns))
		return INT64_MAX / 2;
	return ns;
}

static void sleep_for(int64_t ns)
{
	const int64_t end = fib_virtual_now() + (ns < INT64_MAX / 2 ? ns : INT64_MAX / 2);
	_Atomic uint32_t never = 0;

	if (ns <= 0)
		return;
	if (fib_aside_may())
		fib_os_futex_wait(&never, 0, end);
	else
		fib_virtual_reach(end);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *ret_left)
{
	struct timespec now = {0, 0};

	if (!fib_virtual_here())
		return syscall(SYS_clock_nanosleep, clock, flags, t, ret_left) < 0 ? errno : 0;
	if (!is_valid(t))
		return EINVAL;
	if (flags & TIMER_ABSTIME && clock_gettime(clock, &now) < 0)
		return errno;
	sleep_for(to_ns(t) - to_ns(&now));
	return 0;
}

int nanosleep(const struct timespec *t, struct timespec *ret_left)
{
	const int rc = clock_nanosleep(CLOCK_REALTIME, 0, t, ret_left);

	errno = rc ? rc : errno;
	return rc ? -1 : 0;
}

int usleep(useconds_t us)
{
	const struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};

	return nanosleep(&t, NULL);
}

unsigned sleep(unsigned seconds)
{
	struct timespec t = {(time_t)seconds, 0};

	/* Interrupted: the rest, rounded. */
	return nanosleep(&t, &t) == 0 ? 0 : (unsigned)t.tv_sec + (t.tv_nsec >= SECOND / 2);
}
