/* SPDX-License-Identifier: MIT */
/* process.c - facts about this process, its threads, and other processes */
#include <libproc.h>
#include <pthread.h>
#include <string.h>
#include <sys/proc_info.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/bsd/system.h"
#include "os/local.h"
#include "os/os.h"

/* A process has no set of CPUs of its own. */
unsigned fib_os_cpus(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 0 ? (unsigned)cpus : 1;
}

/* The name of the thread's port: unlike the number of pthread_threadid_np(3) it has 32 bits, and calls take it. */
fib_noinline uint32_t fib_os_tid(void)
{
	return (uint32_t)pthread_mach_thread_np(pthread_self());
}

fib_noinline uint32_t fib_os_cpu(void)
{
	size_t cpu;

	return pthread_cpu_number_np(&cpu) == 0 ? (uint32_t)cpu : FIB_OS_NO_CPU;
}

void fib_os_thread_name(const char *name)
{
	char cut[16] = "";

	strncpy(cut, name, sizeof cut - 1);
	pthread_setname_np(cut);
}

/*
 * The time of the start in microseconds, by the clock of the day. The number is only compared with
 * others of the same process.
 */
fib_noinline int fib_os_started(pid_t pid, uint64_t *ret_ticks)
{
	struct proc_bsdinfo info;

	if (proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, sizeof info) != (int)sizeof info)
		return -ENODATA;
	*ret_ticks = info.pbi_start_tvsec * 1000000 + info.pbi_start_tvusec;
	return 0;
}

/* There is no file for it. */
fib_noinline int64_t fib_os_resident(int statm)
{
	struct proc_taskinfo info;

	(void)statm;
	if (proc_pidinfo(getpid(), PROC_PIDTASKINFO, 0, &info, sizeof info) != (int)sizeof info)
		return -EIO;
	return (int64_t)info.pti_resident_size;
}

pid_t fib_bsd_peer(int fd)
{
	pid_t pid = 0;
	socklen_t size = sizeof pid;

	return getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &pid, &size) == 0 ? pid : 0;
}
