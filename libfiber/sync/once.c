/* SPDX-License-Identifier: MIT */
/*
 * once.c - run a function exactly once
 *
 * The first caller runs the function. Other callers wait in the queue until it has returned. After
 * that a call is one load.
 *
 * The runner may exit inside the function: a fiber with fiber_exit or fiber_fail, a thread with
 * pthread_exit. As with pthread_once, the function then counts as not run. The longest waiter runs
 * it instead, so that no waiter is stuck. `runs` is set in its node before its wait is claimed.
 */
#include <pthread.h>

#include <fiber/fiber.h>
#include <fiber/sync.h>
#include <fiber/time.h>

#include "choice.h"
#include "order.h"
#include "base/compiler.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* state */
#define RUNNING 1u
#define DONE	2u

struct once_waiter {
	struct fib_waiter waiter;
	bool runs; /* L: the previous runner exited; this waiter must run the function */
};

/* A run in progress, on the stack of its runner. */
struct run {
	struct fib_ending ending;
	struct fiber_once *once;
};

/* Make the first waiter that can be claimed the runner. Under the queue's lock. */
static bool hand_over(struct fiber_once *once, struct fib_wake_list *list)
{
	struct fib_waiter *first;

	while ((first = fib_queue_first(&once->waiters))) {
		once->runner = first->who;
		fib_container(first, struct once_waiter, waiter)->runs = true;
		if (fib_queue_claim_next(&once->waiters, list))
			return true;
	}
	return false;
}

/* The caller exits inside the function. */
static void give_up(void *arg)
{
	struct fiber_once *once = ((struct run *)arg)->once;
	struct fib_wake_list list = {NULL, NULL};

	fib_order_release(once);
	fib_queue_lock(&once->waiters);
	if (!hand_over(once, &list)) {
		once->runner = 0;
		fib_store(&once->state, 0);
	}
	fib_queue_unlock(&once->waiters);
	fib_wake_all(&list);
}

static void give_up_fiber(struct fib_ending *ending)
{
	give_up(fib_container(ending, struct run, ending));
}

static void finish(struct fiber_once *once)
{
	struct fib_wake_list list = {NULL, NULL};

	fib_queue_lock(&once->waiters);
	once->runner = 0;
	fib_order_release(once);
	/* label: once.done -- the writes of the function are visible. */
	fib_store_release(&once->state, DONE);
	fib_queue_claim_all(&once->waiters, &list);
	fib_queue_unlock(&once->waiters);
	fib_wake_all(&list);
}

static void call_once(struct fiber_once *once, void (*fn)(void *), void *arg)
{
	struct fiber *self = fiber_self();
	struct run r = {.ending.end = give_up_fiber, .once = once};

	if (self) {
		r.ending.outer = self->endings;
		self->endings = &r.ending;
		fn(arg);
		self->endings = r.ending.outer;
	} else {
		pthread_cleanup_push(give_up, &r);
		fn(arg);
		pthread_cleanup_pop(0);
	}
	finish(once);
}

/*
 * Returns the state found: DONE; 0, and the caller has become the runner; or RUNNING, and w (if not
 * NULL) has been queued.
 */
static uint64_t enter(struct fiber_once *once, struct once_waiter *w)
{
	uint64_t state;

	fib_queue_lock(&once->waiters);
	state = fib_load(&once->state);
	if (!state) {
		once->runner = fib_caller();
		fib_store(&once->state, RUNNING);
	} else if (state == RUNNING && w) {
		fib_queue_append(&once->waiters, &w->waiter);
	}
	fib_queue_unlock(&once->waiters);
	return state;
}

/* Wait until the function has been run, or until the caller must run it (*ret_mine). */
static int wait_until_done(struct fiber_once *once, bool *ret_mine)
{
	struct once_waiter w;
	uint64_t state;
	int rc = fib_wait_begin(&w.waiter, FIB_WAIT_ONCE, once, 0, FIBER_FOREVER);

	if (rc < 0)
		return rc;
	w.runs = false;
	state = enter(once, &w);
	if (state != RUNNING) {
		fib_wait_abort(&w.waiter);
		*ret_mine = !state;
		return 0;
	}
	rc = fib_queue_wait(&once->waiters, &w.waiter, FIBER_FOREVER);
	if (rc == 0)
		*ret_mine = w.runs;
	return rc;
}

int fiber_once(struct fiber_once *once, void (*fn)(void *), void *arg)
{
	uint64_t state;
	bool mine;
	int rc = 0;

	fib_choice(once);
	/* pairs: once.done */
	if (fib_likely(fib_load_acquire(&once->state) == DONE)) {
		fib_order_acquire(once);
		return 0;
	}
	state = enter(once, NULL);
	mine = !state;
	if (state == RUNNING)
		rc = wait_until_done(once, &mine);
	if (rc == 0)
		fib_order_acquire(once);
	if (rc == 0 && mine)
		call_once(once, fn, arg);
	return rc;
}
