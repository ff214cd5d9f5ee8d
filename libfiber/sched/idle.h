/* SPDX-License-Identifier: MIT */
/* idle.h - deciding who sleeps and who is woken. See idle.c for the rule. */
#ifndef FIB_SCHED_IDLE_H
#define FIB_SCHED_IDLE_H

#include <stdbool.h>
#include <stdint.h>

struct fib_sched;
struct fib_carrier;

/* One per carrier. */
struct fib_sleeper {
	_Atomic uint32_t how;	  /* A, futex: AWAKE, in a futex, in the poller, or notified */
	struct fib_carrier *next; /* L idle.lock */
	bool listed;		  /* L idle.lock */
};

/* Waits in its own way, and returns when `deadline` has come or the poller's descriptor is readable. */
typedef int fib_idle_hook(void *arg, int64_t deadline);

/* One per scheduler. */
struct fib_idle {
	_Atomic uint32_t word; /* A: searching | sleeping << 16 (idle.gap) */
	_Atomic uint32_t lock;
	struct fib_carrier *sleepers; /* L: the one that fell asleep last is woken first */
	fib_idle_hook *_Atomic hook;  /* A: idle.hook; NULL: the poller's own way */
	void *hook_arg;		      /* I once there is a hook */
};

/* Have the poller's descriptor be one that others can wait for: before fib_idle_serve(), once. 0, or a negative
 * errno. */
int fib_idle_lend(struct fib_sched *s);

/* From now on have whoever would block in the poller of s call hook instead. Once, before the first fiber. Not on a
 * carrier. */
void fib_idle_serve(struct fib_sched *s, fib_idle_hook *hook, void *arg);

/* Something became runnable that any carrier may run: wake one if that is needed. Any thread. Call after the
 * work can be seen. */
void fib_idle_notify(struct fib_sched *s);

/* Wake exactly this carrier, if it sleeps: something came that only it can do. Any thread. */
void fib_idle_wake(struct fib_carrier *c);

/* c begins to search for work / stops, having found some. */
void fib_idle_search(struct fib_carrier *c);
void fib_idle_found(struct fib_carrier *c);

/* Sleep until woken, a descriptor is ready or the nearest deadline of c. c searches before and after. */
void fib_idle_sleep(struct fib_carrier *c);

/* Whether any queue of s holds a fiber that carrier c could run; c NULL: any carrier. */
bool fib_work_visible(struct fib_sched *s, struct fib_carrier *c);

/* Look into the poller without waiting; makes fibers runnable. */
void fib_idle_poll(struct fib_carrier *c);

/* Whether c has lain down to sleep, and if so whether in the poller. */
bool fib_idle_is_asleep(struct fib_carrier *c, bool *ret_polls);

/* Every carrier sleeps. */
bool fib_idle_all_asleep(struct fib_sched *s);

#endif
