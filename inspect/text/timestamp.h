/* SPDX-License-Identifier: MIT */
/*
 * timestamp.h - convert times of a process' own clock to wall-clock time
 *
 * That clock is monotonic and starts anywhere. One pair of its time and the wall-clock time of the
 * same moment converts one to the other. This works for a snapshot too, whose process and machine
 * may no longer exist.
 */
#ifndef INS_TIMESTAMP_H
#define INS_TIMESTAMP_H

#include <stddef.h>
#include <stdint.h>

struct ins_timestamp {
	int64_t now;  /* ns of the process' clock ... */
	int64_t wall; /* ... at this time of CLOCK_REALTIME */
	int64_t seen; /* at this time of our CLOCK_MONOTONIC; 0: the clock does not run */
};

/* ns of CLOCK_REALTIME. */
int64_t ins_timestamp_wall(void);

/* The process' clock is `now` at this moment and runs on. */
void ins_timestamp_set_running(struct ins_timestamp *timestamp, int64_t now);

/* The process' clock was `now` at `wall` and does not run. */
void ins_timestamp_set_fixed(struct ins_timestamp *timestamp, int64_t now, int64_t wall);

/* Replace the pair by one of this moment, if the clock runs. */
void ins_timestamp_renew(struct ins_timestamp *timestamp);

/* Convert `at` on that clock: *ret_ago ns ago, at least 0; *ret_wall by CLOCK_REALTIME. */
void ins_timestamp_convert(const struct ins_timestamp *timestamp, int64_t at, int64_t *ret_ago,
			   int64_t *ret_wall);

/* The local time of day: "22:47:52.123". Returns buf. */
const char *ins_timestamp_format(int64_t wall, char *buf, size_t size);

#endif
