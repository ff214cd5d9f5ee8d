/* SPDX-License-Identifier: MIT */
/*
 * idle.c - decide which carriers sleep and which are woken
 *
 * A carrier that finds nothing to do must sleep, and a runnable fiber must not wait for a
 * sleeping carrier while a CPU is free. One word counts both: how many carriers search, how many
 * sleep.
 *
 * The rule: no carrier is woken while another one searches. A searcher that finds work and was the
 * last searcher wakes a successor before it runs the work. So after a burst of a thousand wake-ups
 * carriers are woken one after another, as fast as they find something, not all at once. (This is
 * the scheme of tokio's and Go's schedulers.)
 *
 * A searcher leaves work alone that its own carrier will run soon (steal.c). While there is nothing
 * else it takes naps and still counts as searching.
 *
 * No carrier is woken for work that others may run while `most` carriers are awake, normally one for
 * each CPU, and a carrier beyond them sleeps instead of searching. The service thread sets `most`
 * (watch/crowd.c). So queued work may wait until a carrier that is awake looks for some. Each one
 * does before it sleeps, unless `most` others are awake.
 *
 * Race: work may be published between "I looked everywhere" and "I sleep". So a carrier first
 * announces that it sleeps and then looks once more; a publisher first publishes the work and then
 * reads the word. At least one of the two sees the other (pairs: idle.gap).
 *
 * One sleeper waits in the poller, the others on a futex: a single thread in epoll_wait means a
 * single wake-up per event. The first carrier to sleep takes the poller; when all sleep, one is in
 * it.
 *
 * A program with descriptors of its own to wait for can replace the wait in the poller by a hook.
 * For the rest of the scheduler the carrier in the hook sleeps in the poller; it still owns the
 * poller and empties it when the hook returns. An event that would end its sleep makes the poller's
 * descriptor readable, and the hook must return then. The hook may make fibers runnable itself.
 * Therefore even a carrier that is alone must notify then (sched->notifies).
 */
#include "sched/idle.h"

#include <errno.h>

#include "core/registry.h"
#include "os/os.h"
#include "os/spin.h"
#include "sched/observer.h"
#include "sched/sched.h"

enum { AWAKE, IN_FUTEX, IN_POLLER, NOTIFIED };

#define SLEEPING     (UINT32_C(1) << 16)
#define searching(w) ((w)&0xffffu)
#define sleeping(w)  ((w) >> 16)

/*
 * Per poll. Few, so that what an event has loaded into the caches is still there when its fiber
 * runs. But one carrier polls at a time, so where there are many carriers each call must bring more:
 * with 16 a server gets 5 million events a second at most, with 64 it gets 8 (bench/model).
 */
#define EVENTS	      16
#define EVENTS_MOST   64
#define CARRIERS_MANY 32u

static int events_wanted(const struct fib_sched *s)
{
	return s->regular < CARRIERS_MANY ? EVENTS : EVENTS_MOST;
}

/* Returns whether as many carriers are awake as may be, and `besides` more. */
static bool full(const struct fib_sched *s, uint32_t word, unsigned besides)
{
	return s->carrier_count - sleeping(word) >= fib_load(&s->idle.most) + besides;
}

bool fib_idle_full(struct fib_sched *s)
{
	return full(s, fib_load(&s->idle.word), 0);
}

#define NAP	 INT64_C(50000) /* ns; doubled by each nap in a row, up to: */
#define NAPS_MAX 2

/* Returns whether there is work that c need not steal. */
static bool own_work_visible(struct fib_sched *s, struct fib_carrier *c)
{
	return !fib_inbox_empty(&s->inbox) || (c && !fib_inbox_empty(&c->inbox)) ||
	       fib_idle_fibers_visible(s, c);
}

bool fib_work_visible(struct fib_sched *s, struct fib_carrier *c)
{
	unsigned i;

	if (own_work_visible(s, c))
		return true;
	for (i = 0; i < s->carrier_count; i++)
		if (!fib_runqueue_empty(&s->carriers[i].queue) ||
		    !fib_start_queue_empty(&s->carriers[i].start_queue) ||
		    fib_load(&s->carriers[i].woken))
			return true;
	return false;
}

static void wake(struct fib_carrier *c)
{
	/* label: idle.wake -- the sleeper sees what was written before the notification. */
	uint32_t how = fib_swap(&c->sleeper.how, NOTIFIED);

	if (how == IN_FUTEX)
		fib_os_futex_wake(&c->sleeper.how, 1);
	else if (how == IN_POLLER)
		c->sched->poller->ops->wake(c->sched->poller);
}

/* Under the lock. */
static void unlist(struct fib_sched *s, struct fib_carrier *c)
{
	struct fib_carrier **at = &s->idle.sleepers;

	while (*at != c)
		at = &(*at)->sleeper.next;
	*at = c->sleeper.next;
	c->sleeper.listed = false;
	/* From asleep to searching in one step: no other carrier is woken in between. */
	fib_add(&s->idle.word, UINT32_C(1) - SLEEPING);
}

/* By a waker, which may be a plain thread with a signal handler that wakes, too. */
static void lock(struct fib_sched *s)
{
	fib_tls_enter();
	fib_spin_lock(&s->idle.lock);
}

static void unlock(struct fib_sched *s)
{
	fib_spin_unlock(&s->idle.lock);
	fib_tls_leave();
}

/*
 * Wake the carrier that fell asleep last, unless another one searches or, without `beyond`, enough
 * are awake.
 */
static void wake_one(struct fib_sched *s, bool beyond)
{
	struct fib_carrier *c = NULL;
	uint32_t word;

	lock(s);
	word = fib_load(&s->idle.word);
	if (!searching(word) && sleeping(word) && (beyond || !full(s, word, 0))) {
		c = s->idle.sleepers;
		unlist(s, c);
	}
	unlock(s);
	if (c)
		wake(c);
}

void fib_idle_notify(struct fib_sched *s)
{
	/* pairs: idle.gap -- the work is visible before the word is read. */
	fib_fence_seq();
	fib_idle_notify_fenced(s);
}

void fib_idle_notify_fenced(struct fib_sched *s)
{
	/* pairs: idle.gap, idle.woken */
	const uint32_t word = fib_load_seq(&s->idle.word);

	if (!searching(word) && !full(s, word, 0))
		wake_one(s, false);
}

void fib_idle_notify_beyond(struct fib_sched *s)
{
	fib_fence_seq(); /* pairs: idle.gap */
	wake_one(s, true);
}

void fib_idle_wake(struct fib_carrier *c)
{
	struct fib_sched *s = c->sched;
	bool was_listed;

	fib_fence_seq(); /* pairs: idle.gap */
	lock(s);
	was_listed = c->sleeper.listed;
	if (was_listed)
		unlist(s, c);
	unlock(s);
	if (was_listed)
		wake(c);
}

bool fib_idle_search(struct fib_carrier *c)
{
	struct fib_sched *s = c->sched;

	if (c->searching)
		return searching(fib_load(&s->idle.word)) == 1;
	c->searching = true;
	return searching(fib_add(&s->idle.word, 1)) == 0;
}

bool fib_idle_spare(struct fib_sched *s)
{
	return full(s, fib_load(&s->idle.word), 1);
}

void fib_idle_found(struct fib_carrier *c)
{
	struct fib_sched *s = c->sched;

	if (!c->searching)
		return;
	c->searching = false;
	if (searching(fib_sub(&s->idle.word, 1)) != 1)
		return;
	/*
	 * pairs: idle.gap -- the search count drops before the look: work whose publisher saw this
	 * carrier search, and therefore woke no carrier, is visible.
	 */
	fib_fence_seq();
	if (fib_work_visible(s, NULL))
		fib_idle_notify(s);
}

static bool take_poller(struct fib_sched *s)
{
	uint32_t free = 0;

	return !fib_load(&s->polling) && fib_cas(&s->polling, &free, 1);
}

static void release_poller(struct fib_sched *s)
{
	/* label: idle.poll -- the next carrier in the poller sees what this one did. */
	fib_store_release(&s->polling, 0);
}

static void count_poll(struct fib_carrier *c)
{
	fib_add_relaxed(&c->sched->polls, 1);
	fib_counters_raise(&c->counters.polls, 1);
}

void fib_idle_poll(struct fib_carrier *c)
{
	struct fib_sched *s = c->sched;
	struct fib_poll_event events[EVENTS_MOST];
	int n;

	if (!fib_load(&s->watching) || !take_poller(s))
		return;
	n = s->poller->ops->wait(s->poller, events, events_wanted(s), 0);
	count_poll(c);
	release_poller(s);
	if (n > 0)
		fib_observer_clock(c, fib_os_now());
	s->dispatch(events, n);
}

int fib_idle_lend(struct fib_sched *s)
{
	return s->poller->ops->lend ? s->poller->ops->lend(s->poller) : 0;
}

void fib_idle_serve(struct fib_sched *s, fib_idle_hook *hook, void *arg)
{
	s->idle.hook_arg = arg;
	fib_store(&s->notifies, 1);
	/* label: idle.hook -- publishes hook_arg and what the program did before. */
	fib_store_release(&s->idle.hook, hook);
	/* Make a carrier that is already in the poller return, so that it calls the hook. */
	s->poller->ops->wake(s->poller);
}

/*
 * Wait by the program's hook. The hook may return early for reasons of its own: the carrier then
 * waits again.
 */
static int wait_by_hook(struct fib_carrier *c, fib_idle_hook *hook, struct fib_poll_event *events,
			int64_t deadline)
{
	struct fib_sched *s = c->sched;
	int n;

	do {
		bool waited = hook(s->idle.hook_arg, deadline) >= 0;

		n = s->poller->ops->wait(s->poller, events, events_wanted(s),
					 waited ? 0 : deadline);
	} while (!n && fib_load(&c->sleeper.how) == IN_POLLER &&
		 (deadline == INT64_MAX || fib_os_now() < deadline));
	return n;
}

static int wait_in_poller(struct fib_carrier *c, struct fib_poll_event *events, int64_t deadline)
{
	fib_idle_hook *hook = fib_load_acquire(&c->sched->idle.hook); /* pairs: idle.hook */

	if (hook)
		return wait_by_hook(c, hook, events, deadline);
	return c->sched->poller->ops->wait(c->sched->poller, events, events_wanted(c->sched),
					   deadline);
}

/* Block until notified, an event or the deadline. Returns the number of events. */
static int block_thread(struct fib_carrier *c, struct fib_poll_event *events, int64_t deadline)
{
	struct fib_sched *s = c->sched;
	bool poller = take_poller(s);
	uint32_t how = AWAKE;
	int n = 0;

	/* label: idle.asleep -- who sees it asleep also sees what it counted before. */
	if (!fib_cas(&c->sleeper.how, &how, poller ? IN_POLLER : IN_FUTEX)) {
		/* Notified before blocking. */
		if (poller)
			release_poller(s);
	} else if (poller) {
		n = wait_in_poller(c, events, deadline);
		count_poll(c);
		fib_counters_raise(&c->counters.wakeups, 1);
		release_poller(s);
	} else {
		while (fib_load(&c->sleeper.how) == IN_FUTEX &&
		       fib_os_futex_wait(&c->sleeper.how, IN_FUTEX, deadline) != -ETIMEDOUT)
			;
		fib_counters_raise(&c->counters.wakeups, 1);
	}
	fib_swap(&c->sleeper.how, AWAKE); /* pairs: idle.wake */
	return n;
}

/* Returns whether c must look at everything once more, because no other carrier will. */
static bool enter_sleep(struct fib_sched *s, struct fib_carrier *c)
{
	uint32_t before;

	fib_spin_lock(&s->idle.lock);
	c->sleeper.next = s->idle.sleepers;
	s->idle.sleepers = c;
	c->sleeper.listed = true;
	/* label: idle.gap -- announced before the last look. */
	before = fib_add(&s->idle.word, SLEEPING - UINT32_C(1));
	fib_spin_unlock(&s->idle.lock);
	fib_fence_seq();
	return searching(before) == 1 && !full(s, before, 1);
}

static void leave_sleep(struct fib_sched *s, struct fib_carrier *c)
{
	fib_spin_lock(&s->idle.lock);
	if (c->sleeper.listed)
		unlist(s, c);
	fib_spin_unlock(&s->idle.lock);
	c->searching = true; /* unlist() has counted it as searching */
}

/*
 * Let some time pass while c counts as searching: there is work, but its carrier will run it soon.
 * No carrier is woken meanwhile. The first one takes about as long as to wake a CPU.
 */
static void nap(struct fib_carrier *c)
{
	const int64_t until = fib_os_now() + (NAP << c->naps);

	fib_os_futex_wait(&c->sleeper.how, AWAKE, until);
	if (c->naps < NAPS_MAX)
		c->naps++;
}

/* When c has to wake by itself. */
static int64_t nearest(struct fib_carrier *c)
{
	const int64_t timer = fib_load(&c->timers.nearest);
	const int64_t trim = c->sched->trim.after ? fib_trim_due(c) : INT64_MAX;

	return timer < trim ? timer : trim;
}

void fib_idle_sleep(struct fib_carrier *c)
{
	struct fib_sched *s = c->sched;
	struct fib_poll_event events[EVENTS_MOST];
	bool last = enter_sleep(s, c), stays;
	int n = 0;

	/* Otherwise a searcher that is left will look, or one of the carriers that are awake. */
	stays = last ? fib_work_visible(s, c) : own_work_visible(s, c);
	if (!stays && !fib_load(&s->stopping)) {
		n = block_thread(c, events, nearest(c));
		fib_observer_clock(c, fib_os_now());
		c->naps = 0;
	}
	/*
	 * It counts as searching before anything becomes runnable: so one event wakes no other
	 * carrier.
	 */
	leave_sleep(s, c);
	fib_observer_awake();
	s->dispatch(events, n);
	if (stays && !own_work_visible(s, c) && !fib_load(&s->stopping))
		nap(c);
}

bool fib_idle_all_asleep(struct fib_sched *s)
{
	return sleeping(fib_load_acquire(&s->idle.word)) == s->carrier_count;
}

bool fib_idle_is_asleep(struct fib_carrier *c, bool *ret_polls)
{
	const uint32_t how = fib_load_acquire(&c->sleeper.how); /* pairs: idle.asleep */

	*ret_polls = how == IN_POLLER;
	return how == IN_POLLER || how == IN_FUTEX;
}
