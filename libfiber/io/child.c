/* SPDX-License-Identifier: MIT */
/*
 * child.c - waiting for child processes
 *
 * A process tells its parent about its children by a signal, which is the program's to handle, and by waitpid(2), which
 * blocks. To wait for the end of one child there is a descriptor. It stands for that process even when
 * somebody else has waited for it meanwhile and its number is another's: so after it became readable the
 * child is taken through the descriptor, and of several who wait for the same one, one gets it and the others hear -ECHILD.
 *
 * For any child, for a group, and for one that may stop or go on, there is no descriptor. There a thread blocks and
 * looks without taking; what it saw is then taken here, by whoever comes first, and who comes too late waits again.
 *
 * Everybody tries first. So a child that ended long ago is found, and what is no child of ours is -ECHILD at once.
 */
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>

#include <fiber/io.h>

#include "io/call_on_thread.h"
#include "io/descriptor.h"
#include "os/children.h"
#include "wait/wait.h"

struct watch {
	pid_t pid;
	int options;
};

static void watch(void *arg)
{
	const struct watch *w = arg;

	fib_os_child_watch(w->pid, w->options);
}

/* 0: to be tried again. */
static int wait_on_thread(pid_t pid, int options, int64_t deadline)
{
	struct watch w = {pid, options};

	return fib_call_on_thread("a child process", watch, &w, deadline);
}

/* Its pid once it was taken; 0: to be tried again. */
static int wait_for_child(pid_t pid, int *ret_status, int options, int64_t deadline)
{
	int rc = fib_wait_check(deadline), fd;

	if (rc < 0)
		return rc;
	fd = fib_os_child_open(pid);
	if (fd == -ESRCH)
		return 0; /* somebody has taken it since */
	if (fd < 0)
		return wait_on_thread(pid, options, deadline);
	fib_descriptor_opened(fd);
	rc = fiber_wait_fd(fd, POLLIN, deadline);
	if (rc > 0) {
		rc = fib_os_child_try_open(fd, ret_status, options);
		/* It has ended, and a debugger keeps it from us: nothing more comes from the descriptor. */
		if (rc == 0)
			rc = wait_on_thread(pid, options, deadline);
	}
	fiber_close(fd);
	return rc;
}

int fiber_waitpid(pid_t pid, int *ret_status, int options, int64_t deadline)
{
	int status = 0, rc;

	/* The children of the calling thread: of whichever carrier that is. */
	if (options & __WNOTHREAD)
		return -EINVAL;
	do {
		rc = fib_os_child_try(pid, &status, options);
		if (rc != 0 || options & WNOHANG)
			break;
		if (pid > 0 && !(options & (WUNTRACED | WCONTINUED)))
			rc = wait_for_child(pid, &status, options, deadline);
		else
			rc = wait_on_thread(pid, options, deadline);
	} while (rc == 0);
	if (rc > 0 && ret_status)
		*ret_status = status;
	return rc;
}
