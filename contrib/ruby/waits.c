/* SPDX-License-Identifier: MIT */
/*
 * waits.c - waits of another scheduler's fibers, performed by libfiber
 *
 * The fibers of Ruby run on Ruby's thread and cannot run on a carrier. What they wait for can be
 * waited for by a fiber of libfiber: it has a name and labels, so fiberctl shows each wait of the
 * Ruby program.
 *
 * A runtime has one carrier, which is a thread of its own. Two lists connect it with the owner:
 *
 *	owner, other threads  --orders-->  dispatcher, a fiber  -->  one fiber for each wait
 *	owner                 <--ended---------------------------------------'
 *
 * Everything on the carrier's side is done by fibers of one carrier, which do not run at the same
 * time, so only the lists are shared. An order is a bit of the wait: a wait is in the list if it
 * had no bit before. The owner collects orders and wakes the dispatcher once for all of them,
 * before it sleeps. The carrier wakes the owner when the list of ended waits was empty. So a busy
 * program pays for few wake-ups.
 *
 * A fiber of libfiber that was cancelled stays cancelled. So it exits after an aborted wait, and
 * the next wait gets a new one.
 *
 * All fibers are background fibers: fiber_runtime_finish() cancels them.
 */
#include "waits.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define STACK_SIZE 32768u

enum { ORDER_BEGIN = 1, ORDER_UNBLOCK = 2, ORDER_ABORT = 4, ORDER_FREE = 8 };

struct waits {
	struct fiber_runtime *runtime;
	struct fiber *dispatcher;
	_Atomic(struct wait *) ordered; /* newest first */
	_Atomic(struct wait *) ended;	/* newest first */
	struct fiber_event event;	/* set when `ended` may have become non-empty */
	pid_t process;			/* a forked child has no carrier */
	unsigned references;		/* the owner's: waits, and 1 until waits_stop() */
	bool unflushed;			/* the owner's */
	bool stopped;			/* the owner's */
};

/* -- the carrier's side -- */

static struct wait *reversed(struct wait *list, bool orders)
{
	struct wait *first = NULL, *next;

	for (; list; list = next) {
		struct wait **const link = orders ? &list->next_order : &list->next_ended;

		next = *link;
		*link = first;
		first = list;
	}
	return first;
}

static void describe(struct wait *w)
{
	if (w->described)
		return;
	fiber_set_name(fiber_self(), w->name);
	fiber_label("at", w->at[0] ? w->at : NULL);
	fiber_label("for", w->why[0] ? w->why : NULL);
	w->described = true;
}

static int wait_unblocked(struct wait *w)
{
	int rc = 0;

	while (atomic_load(&w->unblocked) != w->round && rc == 0)
		rc = fiber_park(w->deadline);
	return atomic_load(&w->unblocked) == w->round ? 0 : rc;
}

static int resolve(struct wait *w)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};

	return fiber_getaddrinfo(w->host, NULL, &hints, &w->found, w->deadline);
}

static int perform(struct wait *w)
{
	switch (w->kind) {
	case WAIT_FD:
		return fiber_wait_fd(w->fd, w->events, w->deadline);
	case WAIT_POLL:
		return fiber_poll(w->fds, w->nfds, w->deadline);
	case WAIT_SLEEP:
		return fiber_sleep_until(w->deadline);
	case WAIT_BLOCK:
		return wait_unblocked(w);
	case WAIT_RESOLVE:
		return resolve(w);
	}
	return -EINVAL;
}

static void publish(struct wait *w)
{
	struct waits *const waits = w->of;
	struct wait *first = atomic_load_explicit(&waits->ended, memory_order_relaxed);

	do
		w->next_ended = first;
	/* Release: the owner that takes the list sees the result. */
	while (!atomic_compare_exchange_weak_explicit(&waits->ended, &first, w,
						      memory_order_release, memory_order_relaxed));
	if (!first)
		fiber_event_set(&waits->event);
}

static void *waiter(void *arg)
{
	struct wait *const w = arg;

	while (!w->leaving && !fiber_cancelled()) {
		if (!w->asked) {
			fiber_park(FIBER_FOREVER);
			continue;
		}
		w->asked = false;
		describe(w);
		w->result = perform(w);
		publish(w);
	}
	if (w->asked) {
		w->asked = false;
		w->result = -ECANCELED;
		publish(w);
	}
	w->fiber = NULL;
	if (w->leaving)
		free(w);
	return NULL;
}

static void begin(struct wait *w)
{
	struct fiber_attr attr = {.size = sizeof attr,
				  .name = w->name,
				  .stack_size = STACK_SIZE,
				  .flags = FIBER_BACKGROUND | FIBER_DETACHED};
	int rc;

	w->asked = true;
	if (w->fiber) {
		fiber_unpark(w->fiber);
		return;
	}
	w->described = false;
	rc = fiber_spawn_attr(&attr, waiter, w, &w->fiber);
	if (rc < 0) {
		w->fiber = NULL;
		w->asked = false;
		w->result = rc;
		publish(w);
	}
}

static void obey(struct wait *w)
{
	/* Acquire: what the ordering thread wrote before is visible. */
	const unsigned orders = atomic_exchange_explicit(&w->orders, 0, memory_order_acquire);

	if (orders & ORDER_BEGIN)
		begin(w);
	if (orders & ORDER_UNBLOCK && w->fiber)
		fiber_unpark(w->fiber);
	if (orders & ORDER_ABORT && w->fiber)
		fiber_cancel(w->fiber);
	if (orders & ORDER_FREE && w->fiber) {
		w->leaving = true;
		fiber_unpark(w->fiber);
	} else if (orders & ORDER_FREE) {
		free(w);
	}
}

static void *dispatch(void *arg)
{
	struct waits *const waits = arg;
	struct wait *w, *next;

	while (!fiber_cancelled()) {
		w = reversed(atomic_exchange_explicit(&waits->ordered, NULL, memory_order_acquire),
			     true);
		if (!w)
			fiber_park(FIBER_FOREVER);
		for (; w; w = next) {
			next = w->next_order;
			obey(w);
		}
	}
	return NULL;
}

/* -- the owner's side -- */

static void order(struct wait *w, unsigned bit)
{
	struct waits *const waits = w->of;
	struct wait *first;

	/* Release: obey() sees the fields of the wait. */
	if (atomic_fetch_or_explicit(&w->orders, bit, memory_order_acq_rel))
		return;
	first = atomic_load_explicit(&waits->ordered, memory_order_relaxed);
	do
		w->next_order = first;
	while (!atomic_compare_exchange_weak_explicit(&waits->ordered, &first, w,
						      memory_order_release, memory_order_relaxed));
}

static bool gone(const struct waits *waits)
{
	return waits->stopped || waits->process != getpid();
}

int waits_start(const char *name, struct waits **ret)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .name = name, .carriers = 1};
	const struct fiber_attr attr = {.size = sizeof attr,
					.name = "dispatcher",
					.stack_size = STACK_SIZE,
					.flags = FIBER_BACKGROUND};
	struct waits *waits = calloc(1, sizeof *waits);
	int rc;

	if (!waits)
		return -ENOMEM;
	waits->references = 1;
	waits->process = getpid();
	rc = fiber_runtime_start(&options, &waits->runtime);
	if (rc == 0) {
		rc = fiber_runtime_spawn(waits->runtime, &attr, dispatch, waits,
					 &waits->dispatcher);
		if (rc < 0)
			fiber_runtime_finish(waits->runtime, FIBER_FOREVER);
	}
	if (rc < 0) {
		free(waits);
		return rc;
	}
	*ret = waits;
	return 0;
}

static void release(struct waits *waits)
{
	if (--waits->references == 0)
		free(waits);
}

void waits_stop(struct waits *waits)
{
	struct wait *w, *next;

	if (!gone(waits)) {
		fiber_runtime_finish(waits->runtime, FIBER_FOREVER);
		fiber_join(waits->dispatcher, NULL, FIBER_FOREVER);
		for (w = atomic_exchange(&waits->ordered, NULL); w; w = next) {
			next = w->next_order;
			if (atomic_load(&w->orders) & ORDER_FREE)
				free(w);
		}
	}
	waits->stopped = true;
	release(waits);
}

struct wait *wait_new(struct waits *waits)
{
	struct wait *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->of = waits;
	waits->references++;
	return w;
}

void wait_free(struct wait *w)
{
	struct waits *const waits = w->of;

	if (gone(waits))
		free(w);
	else
		order(w, ORDER_FREE);
	release(waits);
}

void wait_begin(struct wait *w)
{
	w->round++;
	order(w, ORDER_BEGIN);
	w->of->unflushed = true;
}

void waits_flush(struct waits *waits)
{
	if (!waits->unflushed)
		return;
	waits->unflushed = false;
	fiber_unpark(waits->dispatcher);
}

void wait_abort(struct wait *w)
{
	order(w, ORDER_ABORT);
	w->of->unflushed = true;
}

void wait_unblock(struct wait *w, bool at_once)
{
	/* The round keeps a late order from ending the next wait. */
	atomic_store(&w->unblocked, w->round);
	order(w, ORDER_UNBLOCK);
	if (at_once)
		fiber_unpark(w->of->dispatcher);
	else
		w->of->unflushed = true;
}

struct wait *waits_next(struct waits *waits)
{
	return reversed(atomic_exchange_explicit(&waits->ended, NULL, memory_order_acquire), false);
}

void waits_sleep(struct waits *waits)
{
	fiber_event_wait(&waits->event, FIBER_FOREVER);
	fiber_event_reset(&waits->event);
}

void waits_interrupt(struct waits *waits)
{
	fiber_event_set(&waits->event);
}
