/* SPDX-License-Identifier: MIT */
/*
 * child.c - wait for child processes
 *
 * A child's exit is announced by a signal, which is the program's to handle, and by waitpid(2),
 * which blocks. For the exit of one child there is a descriptor. It refers to that process even if
 * another caller has reaped the child and its number is reused. So once the descriptor is readable
 * the child is reaped through it. Of several callers that wait for one child, one gets it and the
 * others get -ECHILD.
 *
 * For any child, for a group, and for a child that may stop or continue, there is no descriptor. A
 * thread blocks for these and looks without reaping. The caller then reaps what it saw; one that
 * comes too late waits again.
 *
 * Every caller tries first. So a child that exited long ago is found, and a process that is no
 * child is -ECHILD at once.
 */
#include "choice.h"
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

/* 0: the caller must try again. */
static int wait_on_thread(pid_t pid, int options, int64_t deadline)
{
	struct watch w = {pid, options};

	return fib_call_on_thread("a child process", watch, &w, deadline);
}

/* Returns the pid of the reaped child; 0: the caller must try again. */
static int wait_for_child(pid_t pid, int *ret_status, int options, int64_t deadline)
{
	int rc = fib_wait_check(deadline), fd;

	if (rc < 0)
		return rc;
	fd = fib_os_child_open(pid);
	if (fd == -ESRCH)
		return 0; /* another caller has reaped it since */
	if (fd < 0)
		return wait_on_thread(pid, options, deadline);
	fib_descriptor_opened(fd);
	rc = fiber_wait_fd(fd, POLLIN, deadline);
	if (rc > 0) {
		rc = fib_os_child_try_open(fd, ret_status, options);
		/*
		 * It has exited, but a tracer has not reaped it yet; the descriptor reports nothing
		 * more.
		 */
		if (rc == 0)
			rc = wait_on_thread(pid, options, deadline);
	}
	fiber_close(fd);
	return rc;
}

int fiber_waitpid(pid_t pid, int *ret_status, int options, int64_t deadline)
{
	fib_choice_within();
	int status = 0, rc;

	fib_choice(NULL);
	/* It means the children of the calling thread, and a fiber has no fixed thread. */
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
