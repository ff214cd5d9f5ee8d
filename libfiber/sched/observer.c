/* SPDX-License-Identifier: MIT */
/*
 * observer.c - what carriers report to the service thread
 *
 * The service thread rests when every carrier sleeps. The gap between "they all sleep" and "I rest"
 * is closed as in idle.c: the service thread announces its rest and then looks once more; a carrier
 * that wakes first changes the idle word and then reads the announcement (pairs: tick.rest).
 */
#include "sched/observer.h"

#include "core/registry.h"
#include "sched/sched.h"

static struct {
	_Atomic uint32_t resting; /* A: tick.rest */
	void (*_Atomic wake)(void);
} observer;

void fib_observer_set_waker(void (*wake)(void))
{
	fib_store_release(&observer.wake, wake);
}

static void wake_service(void)
{
	void (*wake)(void) = fib_load_acquire(&observer.wake);

	if (wake)
		wake();
}

void fib_observer_awake(void)
{
	/* pairs: tick.rest -- the idle word has changed before this read. */
	fib_fence_seq();
	if (fib_load(&observer.resting) && fib_swap(&observer.resting, 0))
		wake_service();
}

void fib_observer_hurry(void)
{
	fib_store(&observer.resting, 0);
	wake_service();
}

void fib_observer_announce_rest(void)
{
	/* label: tick.rest -- announced before the last look. */
	fib_store_seq(&observer.resting, 1);
	fib_fence_seq();
}

void fib_observer_end_rest(void)
{
	fib_store(&observer.resting, 0);
}

void fib_observer_clock(struct fib_carrier *c, int64_t now)
{
	fib_store(&c->clocked, fib_load(&c->clocked) + 1);
	fib_coarse_set(now);
}
