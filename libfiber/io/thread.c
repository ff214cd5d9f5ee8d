/* SPDX-License-Identifier: MIT */
/*
 * thread.c - join a thread
 *
 * pthread_join(3) blocks and can be done once. If it completed after a fiber's wait timed out, the
 * caller would believe that the thread runs, and could not join it any more. So the fiber waits for
 * the exit of the thread, and joins it afterwards without blocking. After -ETIMEDOUT and -ECANCELED
 * the thread is unchanged.
 *
 * If the system has no descriptor for the exit of a thread (Linux before 6.9), a helper thread
 * joins it. The helper exits with the wait; the system promises that a thread cancelled in
 * pthread_join(3) leaves the other joinable.
 */
#include "choice.h"
#include <errno.h>
#include <poll.h>

#include <fiber/io.h>

#include "io/call_on_thread.h"
#include "io/descriptor.h"
#include "os/threads.h"
#include "wait/wait.h"

struct joining {
	pthread_t thread;
	void *value;
	int rc;
};

static void join(void *arg)
{
	struct joining *j = arg;

	j->rc = fib_os_thread_join(j->thread, &j->value);
}

static int join_by_thread(pthread_t thread, void **ret, int64_t deadline)
{
	struct joining j = {.thread = thread};
	int rc = fib_call_on_thread("the end of a thread", join, &j, deadline);

	*ret = j.value;
	return rc < 0 ? rc : j.rc;
}

/* Wait for its exit. 0: it has exited; -ENOSYS: there is no descriptor to wait for. */
static int wait_for_thread(pthread_t thread, int64_t deadline)
{
	int rc = fib_wait_check(deadline), fd;

	if (rc < 0)
		return rc;
	fd = fib_os_thread_open(thread);
	if (fd < 0)
		return fd == -ESRCH ? 0 : -ENOSYS;
	fib_descriptor_opened(fd);
	rc = fiber_wait_fd(fd, POLLIN, deadline);
	fiber_close(fd);
	return rc < 0 ? rc : 0;
}

int fiber_thread_join(pthread_t thread, void **ret, int64_t deadline)
{
	fib_choice_within();
	void *value = NULL;
	int rc = fib_os_thread_try_join(thread, &value);

	fib_choice(NULL);
	if (rc == -EBUSY) {
		rc = wait_for_thread(thread, deadline);
		if (rc == 0)
			rc = fib_os_thread_try_join(thread, &value);
		else if (rc == -ENOSYS)
			rc = -EBUSY;
		if (rc == -EBUSY)
			rc = join_by_thread(thread, &value, deadline);
	}
	if (rc == 0 && ret)
		*ret = value;
	return rc;
}
