/* SPDX-License-Identifier: MIT */
/* times.c - nanosleep(2) and relatives, sched_yield(2), waitpid(2) */
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fiber/posix.h>

#include "entry/entry.h"
#include "system/system.h"

FPX_ENTRY int nanosleep(const struct timespec *time, struct timespec *left)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_nanosleep(time, left)
				      : fpx_system.nanosleep(time, left);
}

FPX_ENTRY int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			      struct timespec *left)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_clock_nanosleep(clock, flags, time, left)
				      : fpx_system.clock_nanosleep(clock, flags, time, left);
}

FPX_ENTRY int usleep(useconds_t us)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_usleep(us) : fpx_system.usleep(us);
}

FPX_ENTRY unsigned sleep(unsigned seconds)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_sleep(seconds) : fpx_system.sleep(seconds);
}

FPX_ENTRY int sched_yield(void)
{
	return fpx_enters(FPX_CALLER) ? fiber_posix_sched_yield() : fpx_system.sched_yield();
}

FPX_ENTRY pid_t waitpid(pid_t pid, int *ret_status, int options)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_waitpid(pid, ret_status, options)
				      : fpx_system.waitpid(pid, ret_status, options);
}

FPX_ENTRY pid_t wait(int *ret_status)
{
	return fpx_passes(FPX_CALLER) ? fiber_posix_wait(ret_status) : fpx_system.wait(ret_status);
}

/* -- other names of the same functions -- */

FPX_ALIAS(nanosleep) int __nanosleep(const struct timespec *time, struct timespec *left);
FPX_ALIAS(sched_yield) int __sched_yield(void) __THROW;
FPX_ALIAS(waitpid) pid_t __waitpid(pid_t pid, int *ret_status, int options);
FPX_ALIAS(wait) pid_t __wait(int *ret_status);
