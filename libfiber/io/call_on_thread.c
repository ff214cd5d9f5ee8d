/* SPDX-License-Identifier: MIT */
/*
 * call_on_thread.c - one blocking call on a thread that exits with the wait
 *
 * A call given to fiber_block() runs to its end, even if no caller waits for it any more. Some
 * calls may never end: a wait for a child that does not exit would keep one of the few offload
 * threads for each caller that timed out. And some calls must not complete after the caller has
 * returned: a thread reported as running must not have been joined.
 *
 * So such a call gets a thread of its own. A caller whose wait ends early cancels that thread. The
 * call blocks in a cancellation point, and the calls used here promise that a thread cancelled
 * there has consumed nothing. The thread is then joined, which takes no time worth mentioning. So
 * its data can be on the caller's stack, and it is certain whether the call has happened.
 *
 * The cost is one thread for the time of the wait. It is used where there is no descriptor to wait
 * for.
 */
#include "fault.h"
#include "io/call_on_thread.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include <fiber/fiber.h>
#include <fiber/sync.h>
#include <fiber/time.h>

#include "os/os.h"
#include "os/threads.h"
#include "wait/wait.h"

struct aside {
	void (*fn)(void *arg);
	void *arg;
	bool done; /* read after the thread has exited */
	struct fiber_event over;
};

static void *call_thread_main(void *arg)
{
	struct aside *a = arg;

	fib_os_thread_name("fiber-aside");
	a->fn(a->arg);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	a->done = true;
	fiber_event_set(&a->over);
	return NULL;
}

int fib_call_on_thread(const char *name, void (*fn)(void *arg), void *arg, int64_t deadline)
{
	struct aside a = {.fn = fn, .arg = arg};
	pthread_t thread = {0};
	int rc;

	rc = fib_wait_check(deadline);
	if (rc < 0)
		return rc;
	snprintf(a.over.name, sizeof a.over.name, "%s", name);
	rc = fib_fault(THREAD);
	if (rc == 0)
		rc = fib_os_thread_may_end();
	if (rc == 0)
		rc = fib_os_thread_start(&thread, call_thread_main, &a);
	if (rc < 0)
		return rc;
	rc = fiber_event_wait(&a.over, deadline);
	if (rc < 0)
		pthread_cancel(thread);
	pthread_join(thread, NULL);
	return a.done ? 0 : rc;
}
