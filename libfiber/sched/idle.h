/* SPDX-License-Identifier: MIT */
/* idle.h - decide which carriers sleep and which are woken; see idle.c for the rule */
#ifndef FIB_SCHED_IDLE_H
#define FIB_SCHED_IDLE_H

#include <stdbool.h>
#include <stdint.h>

struct fib_sched;
struct fib_carrier;

/* One per carrier. */
struct fib_sleeper {
	_Atomic uint32_t how;	  /* A, futex: AWAKE, IN_FUTEX, IN_POLLER or NOTIFIED */
	struct fib_carrier *next; /* L idle.lock */
	bool listed;		  /* L idle.lock */
};

/*
 * Waits; returns when `deadline` has come or the poller's descriptor is readable. Negative: did not
 * wait.
 */
typedef int fib_idle_hook(void *arg, int64_t deadline);

/* One per scheduler. */
struct fib_idle {
	_Atomic uint32_t word; /* A: searching | sleeping << 16 (idle.gap) */
	_Atomic uint32_t most; /* A: how many carriers may be awake: watch/crowd.c */
	_Atomic uint32_t lock;
	struct fib_carrier *sleepers; /* L: last in, first woken */
	fib_idle_hook *_Atomic hook;  /* A: idle.hook; NULL: wait in the poller itself */
	void *hook_arg;		      /* I once the hook is set */
};

/*
 * Make the poller's descriptor one that others can wait for. Once, before fib_idle_serve(). Returns
 * 0 or a negative errno.
 */
int fib_idle_lend(struct fib_sched *s);

/*
 * From now on call hook instead of blocking in the poller of s. Once, before the first fiber. Not
 * on a carrier.
 */
void fib_idle_serve(struct fib_sched *s, fib_idle_hook *hook, void *arg);

/*
 * Wake a carrier if needed: any carrier may run the new work, which is already visible. Any thread.
 */
void fib_idle_notify(struct fib_sched *s);

/* fib_idle_notify() after a sequentially consistent write that made the work visible. */
void fib_idle_notify_fenced(struct fib_sched *s);

/* The same, also when as many carriers are awake as may be. */
void fib_idle_notify_beyond(struct fib_sched *s);

/* Wake exactly this carrier if it sleeps: only it can run the new work. Any thread. */
void fib_idle_wake(struct fib_carrier *c);

/*
 * c starts to search for work / stops because it has found some. _search returns whether no other
 * carrier searches.
 */
bool fib_idle_search(struct fib_carrier *c);
void fib_idle_found(struct fib_carrier *c);

/* Returns whether as many carriers are awake as may be. */
bool fib_idle_full(struct fib_sched *s);

/* Returns whether more carriers are awake than may be: the caller then sleeps and does not search. */
bool fib_idle_spare(struct fib_sched *s);

/*
 * Sleep until notified, a descriptor is ready or c's nearest deadline. c counts as searching before
 * and after.
 */
void fib_idle_sleep(struct fib_carrier *c);

/* Returns whether any queue of s holds a fiber that carrier c can run; c NULL: any carrier. */
bool fib_work_visible(struct fib_sched *s, struct fib_carrier *c);

/* Poll without waiting; makes fibers runnable. */
void fib_idle_poll(struct fib_carrier *c);

/* Returns whether c sleeps or is about to block, and if so whether in the poller. */
bool fib_idle_is_asleep(struct fib_carrier *c, bool *ret_polls);

/* Returns whether every carrier sleeps. */
bool fib_idle_all_asleep(struct fib_sched *s);

#endif
