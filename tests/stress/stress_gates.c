/* SPDX-License-Identifier: MIT */
/*
 * stress_gates.c - semaphores, rwlocks, events, barriers and waitgroups
 *
 * Each has a small invariant that any user can check:
 * - a semaphore: no more actors are inside than there are permits;
 * - a rwlock: no reader is inside together with a writer;
 * - a barrier: no actor passes before all have arrived;
 * - a waitgroup: no actor passes before all work is done.
 */
#include <errno.h>
#include <string.h>

#include "tests/stress/stress.h"

/* -- semaphore -- */

#define PERMITS 3

static struct {
	struct fiber_sem sem;
	_Atomic unsigned inside;
} permits;

static void take_permit(struct stress_actor *a)
{
	while (stress_on(a, "fiber_sem_wait")) {
		const int rc = fiber_sem_wait(&permits.sem, stress_deadline(a));

		stress_expect(rc, "fiber_sem_wait");
		if (rc < 0)
			continue;
		if (++permits.inside > PERMITS)
			stress_wrong("more than %d permits were taken", PERMITS);
		stress_pause(a);
		permits.inside--;
		fiber_sem_post(&permits.sem);
	}
}

static void begin_sem(void)
{
	memset(&permits, 0, sizeof permits);
	fiber_sem_init(&permits.sem, PERMITS);
	stress_add("sem", 0, 16, take_permit, NULL);
	stress_add("sem-mortal", STRESS_MORTAL, 8, take_permit, NULL);
	stress_add("sem-thread", STRESS_THREAD, 3, take_permit, NULL);
}

static void check_sem(void)
{
	unsigned n = 0;

	while (fiber_sem_wait(&permits.sem, 0) == 0)
		n++;
	if (n != PERMITS)
		stress_wrong("%u permits are left of %d", n, PERMITS);
}

const struct stress_theme stress_sem = {"sem", begin_sem, check_sem};

/* -- rwlock -- */

static struct {
	struct fiber_rwlock lock;
	_Atomic unsigned readers;
	uint64_t a, b; /* plain: equal except while a writer is inside */
} book;

static void read_book(struct stress_actor *a)
{
	const int rc = fiber_rwlock_rdlock(&book.lock, stress_deadline(a));

	stress_expect(rc, "fiber_rwlock_rdlock");
	if (rc < 0)
		return;
	book.readers++;
	stress_pause(a);
	if (book.a != book.b)
		stress_wrong("a writer beside a reader");
	book.readers--;
	fiber_rwlock_unlock(&book.lock);
}

static void write_book(struct stress_actor *a)
{
	const int rc = fiber_rwlock_wrlock(&book.lock, stress_deadline(a));

	stress_expect(rc, "fiber_rwlock_wrlock");
	if (rc < 0)
		return;
	book.a++;
	stress_pause(a);
	if (book.readers)
		stress_wrong("%u readers beside a writer", book.readers);
	book.b++;
	fiber_rwlock_unlock(&book.lock);
}

static void read_and_write(struct stress_actor *a)
{
	while (stress_on(a, "fiber_rwlock")) {
		if (stress_rand(a, 4))
			read_book(a);
		else
			write_book(a);
	}
}

static void begin_rwlock(void)
{
	memset(&book, 0, sizeof book);
	stress_add("rwlock", 0, 16, read_and_write, NULL);
	stress_add("rwlock-mortal", STRESS_MORTAL, 8, read_and_write, NULL);
	stress_add("rwlock-thread", STRESS_THREAD, 3, read_and_write, NULL);
}

static void check_rwlock(void)
{
	if (fiber_rwlock_wrlock(&book.lock, 0) < 0)
		stress_wrong("a rwlock that nobody uses is held");
}

const struct stress_theme stress_rwlock = {"rwlock", begin_rwlock, check_rwlock};

/* -- event -- */

static struct fiber_event gate;

static void pass_gate(struct stress_actor *a)
{
	while (stress_on(a, "fiber_event_wait")) {
		stress_expect(fiber_event_wait(&gate, stress_deadline(a)), "fiber_event_wait");
		stress_pause(a);
	}
}

static void open_and_shut(struct stress_actor *a)
{
	while (stress_on(a, "fiber_event_set")) {
		fiber_event_set(&gate);
		if (stress_rand(a, 2))
			stress_pause(a);
		fiber_event_reset(&gate);
		stress_pause(a);
	}
}

static void begin_event(void)
{
	memset(&gate, 0, sizeof gate);
	stress_add("event", 0, 16, pass_gate, NULL);
	stress_add("event-mortal", STRESS_MORTAL, 6, pass_gate, NULL);
	stress_add("event-thread", STRESS_THREAD, 3, pass_gate, NULL);
	stress_add("gatekeeper", STRESS_SERVER, 1, open_and_shut, NULL);
}

const struct stress_theme stress_event = {"event", begin_event, NULL};

/* -- barrier -- */

#define PARTIES 8

static struct {
	struct fiber_barrier here, there;
	_Atomic uint64_t came;
	bool over; /* plain: written between the two barriers by the last one */
} meeting;

static void pass(struct fiber_barrier *barrier, bool *ret_last)
{
	const int rc = fiber_barrier_wait(barrier, FIBER_FOREVER);

	if (rc < 0)
		stress_wrong("fiber_barrier_wait: %s", strerror(-rc));
	*ret_last = rc == FIBER_BARRIER_LAST;
}

static void meet(struct stress_actor *a)
{
	uint64_t round;
	bool last;

	for (round = 1; !meeting.over; round++) {
		const bool on = stress_on(a, "fiber_barrier_wait");

		stress_pause(a);
		meeting.came++;
		pass(&meeting.here, &last);
		if (meeting.came != round * PARTIES)
			stress_wrong("round %llu: %llu have come", (unsigned long long)round,
				     (unsigned long long)meeting.came);
		if (last)
			meeting.over = !on;
		pass(&meeting.there, &last);
	}
}

static void begin_barrier(void)
{
	memset(&meeting, 0, sizeof meeting);
	fiber_barrier_init(&meeting.here, PARTIES);
	fiber_barrier_init(&meeting.there, PARTIES);
	stress_add("barrier", 0, PARTIES - 2, meet, NULL);
	stress_add("barrier-thread", STRESS_THREAD, 2, meet, NULL);
}

const struct stress_theme stress_barrier = {"barrier", begin_barrier, NULL};

/* -- waitgroup -- */

struct work {
	struct fiber_waitgroup group;
	_Atomic unsigned left;
};

static void *finish_work(void *arg)
{
	struct work *w = arg;

	fiber_yield();
	w->left--;
	fiber_waitgroup_done(&w->group); /* w may be freed from here on */
	return NULL;
}

static void wait_for_work(struct stress_actor *a)
{
	while (stress_on(a, "fiber_waitgroup_wait")) {
		struct work w = {.left = 1 + stress_rand(a, 6)};
		const unsigned n = w.left;
		unsigned i;
		int rc;

		fiber_waitgroup_add(&w.group, n);
		for (i = 0; i < n; i++)
			stress_spawn("work", finish_work, &w, NULL);
		do
			rc = fiber_waitgroup_wait(&w.group, stress_deadline(a));
		while (rc == -ETIMEDOUT);
		if (rc < 0 || w.left)
			stress_wrong("fiber_waitgroup_wait: %d, and %u are not done", rc, w.left);
	}
}

static void begin_waitgroup(void)
{
	stress_add("waitgroup", 0, 12, wait_for_work, NULL);
	stress_add("waitgroup-thread", STRESS_THREAD, 2, wait_for_work, NULL);
}

const struct stress_theme stress_waitgroup = {"waitgroup", begin_waitgroup, NULL};
