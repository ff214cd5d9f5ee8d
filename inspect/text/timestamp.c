/* SPDX-License-Identifier: MIT */
/*
 * timestamp.c - convert a process' clock to wall-clock time; the clock is untrusted, so no sum may
 * overflow
 */
#include "inspect/text/timestamp.h"

#include <stdio.h>
#include <time.h>

#define SECOND	    INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)

static int64_t clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

int64_t ins_timestamp_wall(void)
{
	return clock_of(CLOCK_REALTIME);
}

void ins_timestamp_set_running(struct ins_timestamp *m, int64_t now)
{
	*m = (struct ins_timestamp){now, ins_timestamp_wall(), clock_of(CLOCK_MONOTONIC)};
}

void ins_timestamp_set_fixed(struct ins_timestamp *m, int64_t now, int64_t wall)
{
	*m = (struct ins_timestamp){now, wall, 0};
}

void ins_timestamp_renew(struct ins_timestamp *m)
{
	int64_t now;

	if (!m->seen)
		return;
	if (__builtin_add_overflow(m->now, clock_of(CLOCK_MONOTONIC) - m->seen, &now))
		now = INT64_MAX;
	/* The wall clock may have been set meanwhile: its current time is what users see. */
	ins_timestamp_set_running(m, now);
}

void ins_timestamp_convert(const struct ins_timestamp *m, int64_t at, int64_t *ret_ago,
			   int64_t *ret_wall)
{
	int64_t ago;

	if (__builtin_sub_overflow(m->now, at, &ago))
		ago = at < 0 ? INT64_MAX : INT64_MIN;
	if (__builtin_sub_overflow(m->wall, ago, ret_wall))
		*ret_wall = ago < 0 ? INT64_MAX : INT64_MIN;
	*ret_ago = ago > 0 ? ago : 0;
}

const char *ins_timestamp_format(int64_t wall, char *buf, size_t size)
{
	const time_t seconds = (time_t)(wall / SECOND);
	struct tm local;
	size_t used;

	if (wall < 0 || !localtime_r(&seconds, &local))
		snprintf(buf, size, "--:--:--.---");
	else if ((used = strftime(buf, size, "%H:%M:%S", &local)) > 0)
		snprintf(buf + used, size - used, ".%03d", (int)(wall % SECOND / MILLISECOND));
	return buf;
}
