/* SPDX-License-Identifier: MIT */
/* one_cpu.h - have a thread, and the threads that it starts, take turns on one CPU */
#ifndef HARNESS_ONE_CPU_H
#define HARNESS_ONE_CPU_H

#include <sched.h>

/* Keep the calling thread on the CPU on which it runs. Returns the CPUs that it had. */
static inline cpu_set_t harness_one_cpu(void)
{
	cpu_set_t before, here;

	CPU_ZERO(&before);
	sched_getaffinity(0, sizeof before, &before);
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof here, &here);
	return before;
}

#endif
