/* SPDX-License-Identifier: MIT */
/*
 * timestamp.h - when something was, of which only the time on a process' own clock is known
 *
 * That clock is monotonic and begins anywhere. What it says at one moment, and what the wall's clock said then, leads
 * from one to the other; also of a snapshot, whose process and machine may have gone.
 */
#ifndef INS_TIMESTAMP_H
#define INS_TIMESTAMP_H

#include <stddef.h>
#include <stdint.h>

struct ins_timestamp {
	int64_t now;  /* ns of the process' clock ... */
	int64_t wall; /* ... when it was that by CLOCK_REALTIME */
	int64_t seen; /* by our CLOCK_MONOTONIC; 0: it stands still */
};

/* ns of CLOCK_REALTIME. */
int64_t ins_timestamp_wall(void);

/* The process' clock says `now` at this moment, and goes on. */
void ins_timestamp_set_running(struct ins_timestamp *timestamp, int64_t now);

/* It said `now` at `wall`, and stands still. */
void ins_timestamp_set_fixed(struct ins_timestamp *timestamp, int64_t now, int64_t wall);

/* This moment instead, if the clock goes on. */
void ins_timestamp_renew(struct ins_timestamp *timestamp);

/* When it was `at` on that clock: *ret_ago ns ago, at least 0; *ret_wall by CLOCK_REALTIME. */
void ins_timestamp_convert(const struct ins_timestamp *timestamp, int64_t at, int64_t *ret_ago,
			   int64_t *ret_wall);

/* The time of day here: "22:47:52.123". Returns buf. */
const char *ins_timestamp_format(int64_t wall, char *buf, size_t size);

#endif
