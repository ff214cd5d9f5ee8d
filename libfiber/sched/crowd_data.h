/* SPDX-License-Identifier: MIT */
/* crowd_data.h - what the service thread keeps per scheduler for watch/crowd.h */
#ifndef FIB_SCHED_CROWD_DATA_H
#define FIB_SCHED_CROWD_DATA_H

#include <stdint.h>

struct fib_crowd {
	unsigned cpus;	     /* set before start: for how many carriers there is a CPU */
	int64_t looked_at;   /* when process_cpu was read; 0: never */
	int64_t process_cpu; /* CPU time of the process, ns */
	unsigned unused;     /* ticks in a row at which it had not used its CPUs */
};

#endif
