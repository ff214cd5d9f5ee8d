/* SPDX-License-Identifier: MIT */
/*
 * tick.c - what the service thread does for the schedulers at every tick
 *
 * The carriers of a busy server poll all the time, and read and set the coarse clock each time. The
 * service thread would only take the CPU from them, so it ticks less often then. When a carrier
 * that does not sleep has not set the clock since the last tick, the normal interval returns.
 *
 * Unlike under other spin locks (os/spin.h), a tick makes system calls while it holds the lock of
 * the list: to wake, to print, to ask what a carrier does. Only callers that start or finish a
 * runtime or fork wait for that lock, not a fiber on its normal path.
 *
 * Ticks go on for LINGER ticks after the last carrier has gone to sleep. So a server with a request
 * every few milliseconds does not pay a wake-up of this thread for each.
 */
#include "watch/tick.h"

#include <errno.h>

#include "core/registry.h"
#include "os/os.h"
#include "os/sample.h"
#include "os/spin.h"
#include "sched/observer.h"
#include "sched/sched.h"
#include "wait/pinned.h"
#include "watch/crowd.h"
#include "watch/longrun.h"
#include "watch/profile.h"

#define LINGER 20

static struct {
	_Atomic uint32_t lock; /* guards the list: see above */
	struct fib_sched *first;
	unsigned idle_ticks;	 /* the service thread only */
	int64_t pause;		 /* the service thread only: time until the next tick */
	_Atomic uint32_t closed; /* L writes, A reads, futex: the list stays as it is */
} tick;

/* Lock the list when it is open. */
static void lock_open(void)
{
	fib_spin_lock(&tick.lock);
	while (fib_load(&tick.closed)) {
		fib_spin_unlock(&tick.lock);
		fib_os_futex_wait(&tick.closed, 1, INT64_MAX);
		fib_spin_lock(&tick.lock);
	}
}

void fib_tick_add(struct fib_sched *s)
{
	lock_open();
	s->next = tick.first;
	tick.first = s;
	fib_publish(&fiber_registry.carriers, fiber_registry.carriers + s->regular);
	fib_spin_unlock(&tick.lock);
	fib_observer_awake();
}

void fib_tick_remove(struct fib_sched *s)
{
	struct fib_sched **at;

	lock_open();
	for (at = &tick.first; *at && *at != s; at = &(*at)->next)
		;
	/* In a forked child the list is empty, and its parent's runtime is not found. */
	if (*at) {
		fib_longrun_close(s);
		*at = s->next;
		fib_publish(&fiber_registry.carriers, fiber_registry.carriers - s->regular);
	}
	fib_spin_unlock(&tick.lock);
}

void fib_tick_close(void (*fn)(struct fib_sched *s, void *arg), void *arg)
{
	struct fib_sched *s;

	fib_spin_lock(&tick.lock);
	fib_store(&tick.closed, 1);
	for (s = tick.first; s; s = s->next)
		fn(s, arg);
	fib_spin_unlock(&tick.lock);
}

void fib_tick_open(void)
{
	fib_spin_lock(&tick.lock);
	fib_store(&tick.closed, 0);
	fib_spin_unlock(&tick.lock);
	fib_os_futex_wake(&tick.closed, INT32_MAX);
}

void fib_tick_lock(void)
{
	fib_spin_lock(&tick.lock);
}

void fib_tick_unlock(void)
{
	fib_spin_unlock(&tick.lock);
}

void fib_tick_forget(void)
{
	struct fib_sched *s;
	unsigned i;

	/* These files are of the parent's threads. */
	for (s = tick.first; s; s = s->next)
		for (i = 0; i < s->carrier_count; i++)
			fib_os_kept_close(&s->carriers[i].place);
	tick.first = NULL;
	tick.idle_ticks = 0;
	tick.pause = 0;
	fib_store(&tick.closed, 0);
	fib_longrun_forget();
	fib_profile_end();
	fib_publish(&fiber_registry.carriers, 0);
}

bool fib_tick_next(uint64_t after, void (*fn)(struct fib_sched *s, void *arg), void *arg)
{
	struct fib_sched *s, *next = NULL;

	fib_spin_lock(&tick.lock);
	for (s = tick.first; s; s = s->next)
		if (s->serial > after && (!next || s->serial < next->serial))
			next = s;
	if (next)
		fn(next, arg);
	fib_spin_unlock(&tick.lock);
	return next != NULL;
}

static bool all_asleep(void)
{
	struct fib_sched *s;

	for (s = tick.first; s; s = s->next)
		if (!fib_idle_all_asleep(s))
			return false;
	return true;
}

static bool overdue(struct fib_sched *s, int64_t now)
{
	unsigned i;

	for (i = 0; i < s->carrier_count; i++)
		if (fib_timers_overdue(&s->carriers[i].timers, now))
			return true;
	return false;
}

/*
 * A carrier that computes for long, or blocks, looks at nothing. Wake another carrier if work is in
 * a queue, a deadline has passed, or no carrier has been in the poller, or in the program's hook,
 * since the last tick. Returns whether that is so, also with one carrier.
 */
static bool mend(struct fib_sched *s, int64_t now)
{
	uint64_t polls = fib_load(&s->polls);
	bool wanted = fib_load(&s->watching) || fib_load(&s->idle.hook);
	bool unwatched = wanted && !fib_load(&s->polling) && polls == s->polls_seen;
	bool neglected = unwatched || overdue(s, now);
	bool behind = neglected || fib_work_visible(s, NULL);

	s->polls_seen = polls;
	fib_crowd_look(s, now, behind);
	if (s->carrier_count > 1 && neglected)
		fib_idle_notify_beyond(s);
	else if (s->carrier_count > 1 && behind)
		fib_idle_notify(s);
	return behind;
}

/*
 * Returns whether every carrier that does not sleep has set the clock since the last tick. A
 * sleeping carrier sets it when it wakes.
 */
static bool keep_the_clock(struct fib_sched *s)
{
	bool kept = true, polls;
	unsigned i;

	for (i = 0; i < s->carrier_count; i++) {
		struct fib_carrier *c = &s->carriers[i];
		uint32_t clocked = fib_load(&c->clocked);

		if (clocked == c->clocked_seen && !fib_idle_is_asleep(c, &polls))
			kept = false;
		c->clocked_seen = clocked;
	}
	return kept;
}

/* Announce the rest, unless a carrier is awake after all. */
static bool rest(void)
{
	fib_observer_announce_rest();
	if (all_asleep())
		return true;
	fib_observer_end_rest();
	return false;
}

int64_t fib_tick(int64_t now)
{
	bool kept = true, resting, behind, due;
	struct fib_sched *s;

	fib_coarse_set(now);
	/* Stopped carriers do not look at anything, and are not to be reported for that. */
	if (fib_load(&tick.closed))
		return FIB_TICK;
	fib_spin_lock(&tick.lock);
	due = fib_profile_due(now);
	for (s = tick.first; s; s = s->next) {
		behind = mend(s, now);
		fib_pinned_report(&s->pinned, now, fib_longrun_pipe);
		fib_longrun_look(s, now, behind);
		fib_profile_look(s, now, due);
		kept = keep_the_clock(s) && kept;
	}
	fib_longrun_report(now);
	tick.idle_ticks = all_asleep() ? tick.idle_ticks + 1 : 0;
	resting = tick.idle_ticks > LINGER && rest();
	fib_spin_unlock(&tick.lock);
	if (resting)
		return 0;
	tick.pause = kept && tick.pause ? tick.pause * 2 : FIB_TICK;
	if (tick.pause > FIB_TICK_LONG)
		tick.pause = FIB_TICK_LONG;
	return tick.pause;
}

uint64_t fib_tick_fibers(void)
{
	uint64_t kept = 0, taken;
	struct fib_sched *s;
	unsigned i;

	/*
	 * Count the cached records first: each was taken from the registry before. A record given
	 * back in between is missing in this result.
	 */
	fib_spin_lock(&tick.lock);
	for (s = tick.first; s; s = s->next)
		for (i = 0; i < s->carrier_count; i++)
			kept += fib_record_kept(&s->carriers[i].records);
	fib_spin_unlock(&tick.lock);
	taken = fib_registry_taken();
	return taken > kept ? taken - kept : 0;
}

uint32_t fib_tick_carriers(void)
{
	return fib_observe(&fiber_registry.carriers);
}

static struct fib_carrier *carrier_of(uint32_t tid)
{
	struct fib_sched *s;
	unsigned i;

	for (s = tick.first; s; s = s->next)
		for (i = 0; i < s->carrier_count; i++)
			/* pairs: longrun.enter -- a thread that sees tid sees the open file. */
			if (fib_load_acquire(&s->carriers[i].tid) == tid)
				return &s->carriers[i];
	return NULL;
}

bool fib_tick_place(uint32_t tid, struct fib_sleeper_place *ret_place, int *ret)
{
	struct fib_carrier *c;

	fib_spin_lock(&tick.lock);
	c = tid ? carrier_of(tid) : NULL;
	if (c)
		*ret = fib_os_thread_place_of(&c->place, tid, ret_place);
	fib_spin_unlock(&tick.lock);
	/* The thread is there; only its file is not. */
	if (c && *ret == -ENOENT)
		*ret = -ENODATA;
	return c != NULL;
}

bool fib_tick_several(void)
{
	bool several;

	fib_spin_lock(&tick.lock);
	several = tick.first && tick.first->next;
	fib_spin_unlock(&tick.lock);
	return several;
}

unsigned fib_tick_awake_carriers(void)
{
	unsigned i, awake = 0;
	struct fib_sched *s;
	bool polls;

	fib_spin_lock(&tick.lock);
	for (s = tick.first; s; s = s->next)
		for (i = 0; i < s->carrier_count; i++)
			awake += !fib_idle_is_asleep(&s->carriers[i], &polls);
	fib_spin_unlock(&tick.lock);
	return awake;
}

int fib_tick_policy(void)
{
	int policy = -ESRCH;

	fib_spin_lock(&tick.lock);
	if (tick.first)
		policy = (int)fib_load(&tick.first->pinned.policy);
	fib_spin_unlock(&tick.lock);
	return policy;
}

int fib_tick_set_policy(uint32_t policy)
{
	struct fib_sched *s;
	int before = -ESRCH;

	fib_spin_lock(&tick.lock);
	for (s = tick.first; s; s = s->next) {
		int old = (int)fib_swap(&s->pinned.policy, policy);

		before = before < 0 ? old : before;
	}
	fib_spin_unlock(&tick.lock);
	return before;
}

uint64_t fib_tick_pinned_events(uint64_t *ret_dropped)
{
	struct fib_sched *s;
	uint64_t events = 0;

	*ret_dropped = 0;
	fib_spin_lock(&tick.lock);
	for (s = tick.first; s; s = s->next) {
		events += fib_load(&s->pinned.count);
		*ret_dropped += fib_load(&s->pinned.dropped);
	}
	fib_spin_unlock(&tick.lock);
	return events;
}

int64_t fib_tick_long_run(void)
{
	int64_t ns = -ESRCH;

	fib_spin_lock(&tick.lock);
	if (tick.first)
		ns = fib_longrun_threshold(tick.first);
	fib_spin_unlock(&tick.lock);
	return ns;
}

int64_t fib_tick_set_long_run(int64_t ns)
{
	int64_t before = -ESRCH;
	struct fib_sched *s;

	fib_spin_lock(&tick.lock);
	if (tick.first)
		before = fib_longrun_threshold(tick.first);
	for (s = tick.first; s; s = s->next)
		fib_longrun_set(s, ns);
	fib_spin_unlock(&tick.lock);
	return before;
}
