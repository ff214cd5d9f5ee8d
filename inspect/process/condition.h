/* SPDX-License-Identifier: MIT */
/*
 * condition.h - whether a process runs, and how near it is to its limits
 *
 * From /proc and, for what a control group does to the process, from the cgroup2 file system. What
 * cannot be read is as in a process without troubles.
 */
#ifndef INS_CONDITION_H
#define INS_CONDITION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ins_condition {
	bool stopped;				/* by a signal */
	bool traced;				/* a debugger has stopped it */
	bool frozen;				/* by its control group */
	bool has_quota;				/* of CPU */
	uint64_t throttled;			/* how often the quota was used up */
	uint64_t descriptors, descriptors_most; /* open, and the limit; 0: unknown */
	/* Bytes of its control group without the cache of files, and the limit; 0: none. */
	uint64_t memory, memory_most;
};

/* Read the condition of a process. cgroups: where cgroup2 is mounted; NULL: /sys/fs/cgroup. */
void ins_condition_read(pid_t pid, const char *cgroups, struct ins_condition *ret);

#endif
