/* SPDX-License-Identifier: MIT */
/*
 * waker.c - wake the service thread
 *
 * A carrier that wakes may be about to write to the descriptor when it is closed, and the number
 * may be reused. So closing first clears the number and then waits until no thread is writing.
 */
#include "service/waker.h"

#include "base/atomic.h"
#include "os/local.h"
#include "os/os.h"

static _Atomic int event_fd = -1; /* A: service.waker */
static _Atomic unsigned waking;	  /* A: in fib_waker_wake() now */

int fib_waker_open(void)
{
	int fd = fib_os_event();

	if (fd < 0)
		return fd;
	/* label: service.waker -- a thread that reads the number finds the descriptor open. */
	fib_store_release(&event_fd, fd);
	return 0;
}

void fib_waker_wake(void)
{
	int fd;

	fib_add(&waking, 1);
	/* pairs: service.waker -- either this reads -1, or the closing thread waits for it. */
	fib_fence_seq();
	fd = fib_load_acquire(&event_fd);
	if (fd >= 0)
		fib_os_event_set(fd);
	fib_sub(&waking, 1);
}

void fib_waker_close(void)
{
	int fd = fib_load(&event_fd);

	/* label: service.waker */
	fib_store_seq(&event_fd, -1);
	fib_fence_seq();
	while (fib_load_acquire(&waking))
		fib_os_yield();
	if (fd >= 0)
		fib_os_close(fd);
}

/* A thread that was writing did so in the parent. */
void fib_waker_forget(void)
{
	fib_store(&waking, 0);
	fib_waker_close();
}

int fib_waker_fd(void)
{
	return fib_load(&event_fd);
}

void fib_waker_clear(void)
{
	fib_os_event_clear(fib_load(&event_fd));
}

void fib_waker_lose(void)
{
	fib_store(&event_fd, -1);
}
