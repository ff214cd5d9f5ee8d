/* SPDX-License-Identifier: MIT */
/* process.c - facts about this process, its threads, and other processes */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <sys/param.h>

#include <pthread_np.h>
#include <sys/cpuset.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <sys/ucred.h>
#include <sys/un.h>
#include <sys/user.h>

#include "base/compiler.h"
#include "os/bsd/system.h"
#include "os/local.h"
#include "os/os.h"

/* The CPUs of the process' set. A limit of rctl(8) is not looked at. */
unsigned fib_os_cpus(void)
{
	cpuset_t set;
	unsigned cpus = 0, i;

	if (cpuset_getaffinity(CPU_LEVEL_WHICH, CPU_WHICH_PID, -1, sizeof set, &set) == 0)
		for (i = 0; i < CPU_SETSIZE; i++)
			cpus += CPU_ISSET(i, &set) ? 1 : 0;
	return cpus ? cpus : 1;
}

fib_noinline uint32_t fib_os_tid(void)
{
	return (uint32_t)pthread_getthreadid_np();
}

/* sched_getcpu(3) is newer than the releases that this file compiles for. */
fib_noinline uint32_t fib_os_cpu(void)
{
	return FIB_OS_NO_CPU;
}

void fib_os_thread_name(const char *name)
{
	char cut[16] = "";

	strncpy(cut, name, sizeof cut - 1);
	pthread_set_name_np(pthread_self(), cut);
}

/*
 * The time of the start in microseconds, by the clock of the day. The number is only compared with
 * others of the same process.
 */
fib_noinline int fib_os_started(pid_t pid, uint64_t *ret_ticks)
{
	const int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, pid};
	struct kinfo_proc process;
	size_t size = sizeof process;

	/* There is no ENODATA. */
	if (sysctl(name, fib_countof(name), &process, &size, NULL, 0) < 0 || size != sizeof process)
		return -ESRCH;
	*ret_ticks =
		(uint64_t)process.ki_start.tv_sec * 1000000 + (uint64_t)process.ki_start.tv_usec;
	return 0;
}

/* There is no file for it: the kernel is asked for the whole entry of the process. */
fib_noinline int64_t fib_os_resident(int statm)
{
	const int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid()};
	struct kinfo_proc process;
	size_t size = sizeof process;

	(void)statm;
	if (sysctl(name, fib_countof(name), &process, &size, NULL, 0) < 0)
		return -errno;
	if (size != sizeof process)
		return -EIO;
	return (int64_t)process.ki_rssize * (int64_t)fib_os_page_size();
}

/*
 * Since FreeBSD 13 the pid is where a pointer was before, which the kernel sets to NULL: this old name is
 * still there. LOCAL_PEERCRED is an option of level 0.
 */
pid_t fib_bsd_peer(int fd)
{
	struct xucred who;
	socklen_t size = sizeof who;
	pid_t pid = 0;

	if (getsockopt(fd, 0, LOCAL_PEERCRED, &who, &size) == 0 && size == sizeof who &&
	    who.cr_version == XUCRED_VERSION)
		memcpy(&pid, &who._cr_unused1, sizeof pid);
	return pid;
}
