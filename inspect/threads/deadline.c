/* SPDX-License-Identifier: MIT */
/*
 * deadline.c - when the system call of a sleeping thread ends by itself
 *
 * A wait that has a deadline is never reported as one without: if the time itself is unknown, the
 * deadline is now.
 */
#include "inspect/threads/deadline.h"

#define NS INT64_C(1000000000)

/* a + b ns; INT64_MAX - 1 is the latest deadline. */
static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) || sum == INT64_MAX ? INT64_MAX - 1 : sum;
}

/* The time at address in ns; unit: of its second part in ns. False: it cannot be read. */
static bool read_time(const struct ins_sleeper *s, uint64_t address, int64_t unit, int64_t *ret)
{
	int64_t time[2]; /* s, units */

	if (!ins_sleeper_read(s, address, time, sizeof time))
		return false;
	if (__builtin_mul_overflow(time[0], NS, ret))
		*ret = INT64_MAX - 1;
	if (__builtin_mul_overflow(time[1], unit, &time[1]))
		*ret = INT64_MAX - 1;
	else
		*ret = add(*ret, time[1]);
	return true;
}

static int64_t after(const struct ins_sleeper *s, uint64_t address, int64_t unit)
{
	int64_t ns = 0;

	if (!address)
		return INT64_MAX;
	read_time(s, address, unit, &ns);
	return add(s->now, ns);
}

int64_t ins_deadline_after(const struct ins_sleeper *sleeper, uint64_t address)
{
	return after(sleeper, address, 1);
}

int64_t ins_deadline_after_timeval(const struct ins_sleeper *sleeper, uint64_t address)
{
	return after(sleeper, address, 1000);
}

int64_t ins_deadline_at(const struct ins_sleeper *sleeper, uint64_t address, clockid_t clock)
{
	struct timespec now;
	int64_t ns, left;

	if (!address)
		return INT64_MAX;
	/* A core does not say which time it was. */
	if (!sleeper->now || !read_time(sleeper, address, 1, &ns) || clock_gettime(clock, &now) < 0)
		return sleeper->now;
	if (__builtin_sub_overflow(ns, add(now.tv_sec * NS, now.tv_nsec), &left))
		left = INT64_MAX;
	return add(sleeper->now, left);
}

int64_t ins_deadline_ms(const struct ins_sleeper *sleeper, int32_t ms)
{
	return ms < 0 ? INT64_MAX : add(sleeper->now, ms * INT64_C(1000000));
}
