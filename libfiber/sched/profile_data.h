/* SPDX-License-Identifier: MIT */
/* profile_data.h - what the service thread keeps per carrier for profile.h */
#ifndef FIB_SCHED_PROFILE_DATA_H
#define FIB_SCHED_PROFILE_DATA_H

#include <stdint.h>

struct fib_longrun_sample;

/* The service thread's, except for what `sample` points to. */
struct fib_profile_data {
	struct fib_longrun_sample *sample; /* I: longrun.sample */
	int64_t asked_at;		   /* ns; 0: there is no request */
	int64_t cpu;			   /* CPU time of the thread at the last sample, ns */
	int64_t pending;		   /* CPU time that the requested sample stands for, ns */
};

#endif
