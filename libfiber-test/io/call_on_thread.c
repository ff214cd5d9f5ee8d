/* SPDX-License-Identifier: MIT */
/*
 * call_on_thread.c - a call that waits for the outside world; in place of
 * libfiber/io/call_on_thread.c
 *
 * No thread may wake a fiber behind the explorer's back. So the thread writes to a pipe when the
 * call is over, and the fiber waits for that as for any descriptor whose other end is outside.
 */
#include "io/call_on_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include <fiber/io.h>

#include "fault.h"
#include "net/own.h"
#include "os/os.h"
#include "os/threads.h"
#include "os/world.h"
#include "wait/wait.h"

struct aside {
	void (*fn)(void *arg);
	void *arg;
	bool done; /* read after the thread has exited */
	int over;  /* a pipe */
};

static void *call_thread_main(void *arg)
{
	struct aside *a = arg;

	a->fn(a->arg);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	a->done = true;
	while (write(a->over, "", 1) < 0 && errno == EINTR)
		;
	return NULL;
}

static int call(struct aside *a, int over, int64_t deadline)
{
	pthread_t thread = {0};
	int rc = fib_os_thread_may_end();

	if (rc == 0)
		rc = fib_os_thread_start(&thread, call_thread_main, a);
	if (rc < 0)
		return rc;
	rc = fiber_wait_fd(over, POLLIN, deadline);
	if (rc < 0)
		pthread_cancel(thread);
	pthread_join(thread, NULL);
	return a->done ? 0 : rc;
}

int fib_call_on_thread(const char *name, void (*fn)(void *arg), void *arg, int64_t deadline)
{
	struct aside a = {.fn = fn, .arg = arg};
	int rc = fib_wait_check(deadline), over[2];

	(void)name;
	fib_world_use();
	if (rc == 0)
		rc = fib_fault(THREAD);
	if (rc < 0)
		return rc;
	if (fib_own_pipe2(over, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	a.over = over[1];
	rc = call(&a, over[0], deadline);
	fiber_close(over[0]);
	close(over[1]);
	return rc;
}
