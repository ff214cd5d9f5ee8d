/* SPDX-License-Identifier: MIT */
/*
 * waits.h - endless waits of every common kind, for the tests of cancellation
 *
 * Every in_KIND(until) waits for one of the objects in `all` and returns the result of the libfiber
 * call: -ETIMEDOUT at `until`, unless something else ends the wait. A test adds its own kinds.
 */
#ifndef SYSTEM_WAITS_H
#define SYSTEM_WAITS_H

#include "carriers.h"
#include "tests/harness/fibers.h"

#include <errno.h>
#include <poll.h>

/* Held, unset or empty, so that a wait blocks. */
static struct {
	struct fiber_mutex mutex, cond_mutex;
	struct fiber_cond cond;
	struct fiber_sem sem;
	struct fiber_rwlock rwlock;
	struct fiber_event event;
	struct fiber_barrier barrier;
	struct fiber_waitgroup waitgroup;
	struct fiber_timer *timer;
	struct fiber_chan *empty, *meeting;
	struct fiber *sleeper;
	int ends[2]; /* of a pipe or a socket pair; it is empty */
} all;

static inline int in_sleep_until(int64_t until)
{
	int rc = fiber_sleep_until(until);

	return rc == 0 ? -ETIMEDOUT : rc;
}

static inline int in_park(int64_t until)
{
	return fiber_park(until);
}

static inline int in_join(int64_t until)
{
	return fiber_join(all.sleeper, NULL, until);
}

static inline int in_mutex(int64_t until)
{
	return fiber_mutex_lock(&all.mutex, until);
}

static inline int in_rdlock(int64_t until)
{
	return fiber_rwlock_rdlock(&all.rwlock, until);
}

static inline int in_wrlock(int64_t until)
{
	return fiber_rwlock_wrlock(&all.rwlock, until);
}

/* The mutex is held again: otherwise unlocking it aborts. */
static inline int in_cond(int64_t until)
{
	int rc = fiber_mutex_lock(&all.cond_mutex, FIBER_FOREVER);

	if (rc == 0) {
		rc = fiber_cond_wait(&all.cond, &all.cond_mutex, until);
		fiber_mutex_unlock(&all.cond_mutex);
	}
	return rc;
}

static inline int in_sem(int64_t until)
{
	return fiber_sem_wait(&all.sem, until);
}

static inline int in_event(int64_t until)
{
	return fiber_event_wait(&all.event, until);
}

static inline int in_barrier(int64_t until)
{
	return fiber_barrier_wait(&all.barrier, until);
}

static inline int in_waitgroup(int64_t until)
{
	return fiber_waitgroup_wait(&all.waitgroup, until);
}

static inline int in_timer(int64_t until)
{
	return fiber_timer_wait(all.timer, NULL, until);
}

static inline int in_predicate(int64_t until)
{
	return fiber_wait_until(harness_never, NULL, until);
}

static inline int in_send(int64_t until)
{
	return fiber_chan_send(all.meeting, "x", until);
}

static inline int in_recv(int64_t until)
{
	char c;

	return fiber_chan_recv(all.empty, &c, until);
}

static inline int in_read(int64_t until)
{
	char c;

	return (int)fiber_read(all.ends[0], &c, 1, until);
}

static inline int in_wait_fd(int64_t until)
{
	return fiber_wait_fd(all.ends[0], POLLIN, until);
}

static inline void *sleeps_for_ever(void *arg)
{
	fiber_sleep_until(FIBER_FOREVER);
	return arg;
}

/* Initialize all objects except `ends`, which the test opens. */
static inline void waits_make(struct fiber_runtime *rt)
{
	memset(&all, 0, sizeof all);
	fiber_mutex_lock(&all.mutex, 0);
	fiber_rwlock_wrlock(&all.rwlock, 0);
	fiber_barrier_init(&all.barrier, 2);
	fiber_waitgroup_add(&all.waitgroup, 1);
	assert_int_equal(fiber_timer_new(&all.timer), 0);
	assert_int_equal(fiber_chan_new(1, 1, &all.empty), 0);
	assert_int_equal(fiber_chan_new(1, 0, &all.meeting), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, sleeps_for_ever, NULL, &all.sleeper), 0);
}

/* Call it before the runtime finishes. Also closes `ends`. */
static inline void waits_release(void)
{
	fiber_mutex_unlock(&all.mutex);
	fiber_rwlock_unlock(&all.rwlock);
	fiber_timer_free(all.timer);
	fiber_chan_unref(all.empty);
	fiber_chan_unref(all.meeting);
	fiber_cancel(all.sleeper);
	fiber_join(all.sleeper, NULL, FIBER_FOREVER);
	fiber_close(all.ends[0]);
	fiber_close(all.ends[1]);
}

#endif
