/* SPDX-License-Identifier: MIT */
/*
 * children.c - wait for child processes, by pid and by descriptor
 *
 * waitpid(2) and waitid(2) have different interfaces. waitpid takes one number, whose sign says
 * process or group, and returns one status word. Only waitid can look without reaping (WNOWAIT) and
 * take a descriptor. Callers of this file see the interface of waitpid.
 */
#include "os/children.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"

/* Flags that both calls share. */
#define ALIKE (WUNTRACED | WCONTINUED | __WALL | __WCLONE)

fib_noinline int fib_os_child_try(pid_t pid, int *ret_status, int options)
{
	pid_t got;

	do
		got = waitpid(pid, ret_status, options | WNOHANG);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

fib_noinline int fib_os_child_watch(pid_t pid, int options)
{
	siginfo_t info;
	idtype_t type = P_PID;
	id_t id = (id_t)pid;
	int rc;

	if (pid == -1)
		type = P_ALL;
	else if (pid <= 0) {
		type = P_PGID;
		id = pid ? (id_t)-pid : (id_t)getpgrp();
	}
	do
		rc = waitid(type, id, &info, (options & ALIKE) | WEXITED | WNOWAIT);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}

fib_noinline int fib_os_child_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

/* The status word that waitpid(2) would have returned. */
static int status_of(const siginfo_t *info)
{
	switch (info->si_code) {
	case CLD_EXITED:
		return (info->si_status & 0xff) << 8;
	case CLD_KILLED:
		return info->si_status;
	case CLD_DUMPED:
		return info->si_status | 0x80;
	case CLD_CONTINUED:
		return 0xffff;
	default: /* stopped, or trapped */
		return info->si_status << 8 | 0x7f;
	}
}

fib_noinline int fib_os_child_try_open(int fd, int *ret_status, int options)
{
	siginfo_t info = {0};
	int rc;

	do
		rc = waitid(P_PIDFD, (id_t)fd, &info, (options & ALIKE) | WEXITED | WNOHANG);
	while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return -errno;
	if (info.si_pid)
		*ret_status = status_of(&info);
	return info.si_pid;
}
