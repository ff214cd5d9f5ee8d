/* SPDX-License-Identifier: MIT */
/*
 * children.c - wait for child processes by pid
 *
 * A kqueue reports the exit of a process by its pid. It does not say whether the child with this pid
 * is still the one that was meant. FreeBSD has descriptors of processes only for children of
 * pdfork(2). So there is no descriptor of a child, and each wait for one takes a thread.
 */
#include "os/children.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"

fib_noinline int fib_os_child_try(pid_t pid, int *ret_status, int options)
{
	pid_t got;

	do
		got = waitpid(pid, ret_status, options | WNOHANG);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* The options of waitpid(2) as waitid(2) has them. macOS has other numbers for them. */
static int for_waitid(int options)
{
	return WEXITED | (options & WUNTRACED ? WSTOPPED : 0) |
	       (options & WCONTINUED ? WCONTINUED : 0);
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
		rc = waitid(type, id, &info, for_waitid(options) | WNOWAIT);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}

fib_noinline int fib_os_child_open(pid_t pid)
{
	(void)pid;
	return -ENOSYS;
}

fib_noinline int fib_os_child_try_open(int fd, int *ret_status, int options)
{
	(void)fd;
	(void)ret_status;
	(void)options;
	return -ENOSYS;
}
