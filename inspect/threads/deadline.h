/* SPDX-License-Identifier: MIT */
/* deadline.h - when the system call of a sleeping thread ends by itself */
#ifndef INS_DEADLINE_H
#define INS_DEADLINE_H

#include <time.h>

#include "inspect/threads/sleeper.h"

/*
 * The deadline on CLOCK_MONOTONIC in ns, INT64_MAX: none. address: of a struct timespec in the
 * program, 0: none. The first one is of a length of time; when the call began is not known, so the
 * result is the latest possible end. The second one is of an absolute time of a clock.
 */
int64_t ins_deadline_after(const struct ins_sleeper *sleeper, uint64_t address);
int64_t ins_deadline_at(const struct ins_sleeper *sleeper, uint64_t address, clockid_t clock);

/* The same as the first one for a struct timeval. */
int64_t ins_deadline_after_timeval(const struct ins_sleeper *sleeper, uint64_t address);

/* The same for a length of time of so many ms; negative: none. */
int64_t ins_deadline_ms(const struct ins_sleeper *sleeper, int32_t ms);

#endif
