/* SPDX-License-Identifier: MIT */
/* 05_cancellation.c - a worker is cancelled and returns its result. */
#include <fiber.h>
#include <stdio.h>

static struct fiber_mutex lock;
static struct fiber_cond more;
static int waiting = 3; /* under lock: pending items */

static void *work(void *arg)
{
	int *done = arg, rc = 0;

	fiber_mutex_lock(&lock, FIBER_FOREVER);
	while (rc == 0) {
		for (; waiting; waiting--)
			++*done;
		rc = fiber_cond_wait(&more, &lock, FIBER_FOREVER);
	}
	/* Cancelled, and the mutex is held again as after every return of fiber_cond_wait(). */
	printf("the worker stops: %s\n", fiber_cancelled() ? "cancelled" : "error");
	fiber_mutex_unlock(&lock);
	return done;
}

static void *start(void *arg)
{
	struct fiber_result result;
	struct fiber *worker;
	int done = 0;

	if (fiber_spawn(work, &done, &worker) < 0)
		return NULL;
	fiber_sleep(10 * 1000000);
	fiber_cancel(worker); /* its wait ends now, and it never waits again */
	fiber_join(worker, &result, FIBER_FOREVER);
	printf("done: %d, error: %d\n", *(int *)result.value, result.error);
	return arg;
}

int main(void)
{
	return fiber_run(start, NULL, NULL, NULL) < 0;
}
