/* SPDX-License-Identifier: MIT */
/* process.c - facts about this process and its threads */
#include "os/os.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/features.h"

/*
 * The CPUs that a cgroup v2 quota allows, rounded up; 0: no visible quota. In a container the
 * process' own group is the root.
 */
static unsigned quota(void)
{
	char text[64];
	double limit, period;
	unsigned n = 0;
	FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");

	if (!file)
		return 0;
	if (fgets(text, sizeof text, file) && sscanf(text, "%lf %lf", &limit, &period) == 2 &&
	    period > 0 && limit > 0)
		n = (unsigned)((limit + period - 1) / period);
	fclose(file);
	return n;
}

unsigned fib_os_cpus(void)
{
	cpu_set_t set;
	unsigned cpus = 1, limit = quota();

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		cpus = (unsigned)CPU_COUNT(&set);
	if (limit && limit < cpus)
		cpus = limit;
	return cpus ? cpus : 1;
}

fib_noinline uint32_t fib_os_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

fib_noinline void fib_os_yield(void)
{
	sched_yield();
}

fib_noinline uint32_t fib_os_cpu(void)
{
	const int cpu = sched_getcpu();

	return cpu < 0 ? FIB_OS_NO_CPU : (uint32_t)cpu;
}

void fib_os_thread_name(const char *name)
{
	prctl(PR_SET_NAME, name, 0, 0, 0);
}

const char *fib_os_program(void)
{
	return program_invocation_short_name;
}

fib_noinline int fib_os_barrier_prepare(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) < 0) {
		fib_os_feature_lacks(FIB_OS_MEMBARRIER);
		return -errno;
	}
	fib_os_feature_works(FIB_OS_MEMBARRIER);
	return 0;
}

fib_noinline int fib_os_barrier(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) < 0 ? -errno : 0;
}
