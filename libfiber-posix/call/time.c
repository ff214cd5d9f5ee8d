/* SPDX-License-Identifier: MIT */
/*
 * time.c - sleep and yield
 *
 * A program that waits for another thread in a loop of very short sleeps counts on it that others run
 * meanwhile. A sleep that is over before the fiber has parked yields.
 *
 * A sleep until a time of a clock that can be set is made of short ones, since the clock may be set
 * meanwhile. A sleep by a clock of CPU time is made on another thread.
 */
#include <errno.h>

#include <fiber/fiber.h>
#include <fiber/posix.h>
#include <fiber/time.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "call/ready.h"
#include "system/system.h"

#define NS_PER_S INT64_C(1000000000)
#define SLICE	 NS_PER_S

#define SHORT INT64_C(1000) /* ns; a switch takes less */

/* Returns what fiber_sleep_until() returns. */
static int sleep_to(int64_t deadline)
{
	fpx_unrestarted();
	if (deadline - fiber_now() < SHORT)
		fiber_yield();
	return fiber_sleep_until(deadline);
}

/* Sleep for ns. *ret_left: what was not slept. Returns 0 or a negative errno. */
static int sleep_ns(const struct timespec *time, int64_t *ret_left)
{
	const int64_t deadline = fpx_deadline_after(time);
	const int rc = (int)fpx_interrupted(sleep_to(deadline));

	*ret_left = deadline - fiber_now();
	if (rc == 0 || *ret_left < 0)
		*ret_left = 0;
	return rc;
}

static struct timespec as_time(int64_t ns)
{
	return (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
}

int fiber_posix_nanosleep(const struct timespec *time, struct timespec *left)
{
	int64_t ns;
	int rc;

	if (!time || !fpx_time_valid(time) || !fpx_parks())
		return fpx_system.nanosleep(time, left);
	rc = sleep_ns(time, &ns);
	if (rc < 0 && left)
		*left = as_time(ns);
	return (int)fpx_result(rc);
}

int fiber_posix_usleep(unsigned us)
{
	if (!fpx_parks())
		return fpx_system.usleep(us);
	return (int)fpx_result(sleep_to(fiber_after(us * INT64_C(1000))));
}

unsigned fiber_posix_sleep(unsigned seconds)
{
	const struct timespec time = {seconds, 0};
	int64_t left;

	if (!fpx_parks())
		return fpx_system.sleep(seconds);
	return sleep_ns(&time, &left) < 0 ? (unsigned)((left + NS_PER_S - 1) / NS_PER_S) : 0;
}

/* Returns a positive error. */
static int sleep_until(clockid_t clock, const struct timespec *time)
{
	for (;;) {
		struct timespec now;
		int64_t left;
		int rc;

		if (clock_gettime(clock, &now) < 0)
			return errno;
		/* Times that are centuries away are slept for in slices too. */
		left = time->tv_sec - now.tv_sec > 2 ? SLICE
						     : (time->tv_sec - now.tv_sec) * NS_PER_S +
							       time->tv_nsec - now.tv_nsec;
		if (left <= 0)
			return 0;
		fpx_unrestarted();
		rc = (int)fpx_interrupted(fiber_sleep(left < SLICE ? left : SLICE));
		if (rc < 0)
			return -rc;
	}
}

struct sleeping {
	clockid_t clock;
	int flags, rc;
	const struct timespec *time;
	struct timespec *left;
};

static void *sleep_there(void *arg)
{
	struct sleeping *s = arg;

	s->rc = fpx_system.clock_nanosleep(s->clock, s->flags, s->time, s->left);
	return NULL;
}

int fiber_posix_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
				struct timespec *left)
{
	const bool known = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ||
			   clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
	struct sleeping s = {clock, flags, 0, time, left};
	int64_t ns;
	int rc;

	if (!time || !fpx_time_valid(time) || !fpx_parks())
		return fpx_system.clock_nanosleep(clock, flags, time, left);
	if (!known) {
		rc = fpx_off_carrier(sleep_there, &s);
		return rc < 0 ? -rc : s.rc;
	}
	if (flags & TIMER_ABSTIME)
		return sleep_until(clock, time);
	rc = sleep_ns(time, &ns);
	if (rc < 0 && left)
		*left = as_time(ns);
	return -rc;
}

int fiber_posix_sched_yield(void)
{
	return fpx_parks() ? fiber_yield(), 0 : fpx_system.sched_yield();
}
