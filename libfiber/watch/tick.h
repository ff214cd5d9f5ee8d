/* SPDX-License-Identifier: MIT */
/*
 * tick.h - what the service thread does for the schedulers
 *
 * The only interface between the service thread and the runtimes that run. None of these takes a
 * lock that a fiber needs, none allocates.
 */
#ifndef FIB_WATCH_TICK_H
#define FIB_WATCH_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct fib_sched;

/* The time between two ticks, ns: most often, and while the carriers themselves keep the clock. */
#define FIB_TICK      INT64_C(1000000)
#define FIB_TICK_LONG INT64_C(4000000)

/*
 * One tick: set the coarse clock, mend what only an observer can see (work while everybody who could
 * take it sleeps), print what was recorded for printing. How long until the next one, ns; 0 means that every carrier sleeps
 * and the caller may rest until its waker is called.
 */
int64_t fib_tick(int64_t now);

/* A scheduler comes and goes. From any thread; the service thread sees it from then on, and has let go
 * of it when fib_tick_remove returns. */
void fib_tick_add(struct fib_sched *s);
void fib_tick_remove(struct fib_sched *s);

/* Keep others out of the list of schedulers while the process forks; in the child, with the lock: forget
 * the parent's. */
void fib_tick_lock(void);
void fib_tick_unlock(void);
void fib_tick_forget(void);

/* Call fn with the scheduler that has the lowest serial above `after`, which does not go meanwhile. False when there is
 * none. fn takes no lock and does not wait. */
bool fib_tick_next(uint64_t after, void (*fn)(struct fib_sched *s, void *arg), void *arg);

/* How many carriers are awake. */
unsigned fib_tick_awake_carriers(void);

/* Totals over all runtimes of this process. */
uint64_t fib_tick_fibers(void); /* live; while some come and go, off by a few */
uint32_t fib_tick_carriers(void);

/* The pinned-blocking policy of the process: of the first runtime; setting it sets every runtime's.
 * enum fiber_pinned_policy. Returns the policy before. -ESRCH when no runtime runs. */
int fib_tick_policy(void);
int fib_tick_set_policy(uint32_t policy);
/* Counted so far over all runtimes, and how many of them the rings of events have dropped. */
uint64_t fib_tick_pinned_events(uint64_t *ret_dropped);

/* How long a fiber may hold its carrier, ns, 0: any time; as with the policy. */
int64_t fib_tick_long_run(void);
int64_t fib_tick_set_long_run(int64_t ns);

#endif
