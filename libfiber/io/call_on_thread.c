/* SPDX-License-Identifier: MIT */
/*
 * call_on_thread.c - one call that blocks, on a thread that ends with the wait
 *
 * What fiber_block() was given runs to its end whoever waits for it. Some calls have none: a child that never ends
 * is waited for for ever, and each wait that gave up would keep one of the few offload threads. And some must
 * not be finished behind the caller's back: a thread that he was told to be running may not have been joined.
 *
 * So such a call has a thread of its own, and whoever gives up ends that thread. It blocks in a cancellation point of
 * the system, and those it is used for promise that a thread that is ended there has taken nothing. Then the
 * thread is joined, which is not a wait: it has nothing left to do but to end. So what it works on can be on the
 * caller's stack, and whether the call has happened is certain.
 *
 * It costs a thread for as long as the wait lasts. It is for what has no descriptor to wait for.
 */
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
	bool done; /* read when the thread has ended */
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
