/* SPDX-License-Identifier: MIT */
/*
 * tick.h - what the service thread does for the schedulers
 *
 * The only interface between the service thread and the running runtimes. None of these functions
 * takes a lock that a fiber needs, and none allocates.
 */
#ifndef FIB_WATCH_TICK_H
#define FIB_WATCH_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct fib_sched;

/*
 * The time between two ticks, ns: the normal one, and the longest one while the carriers set the
 * clock.
 */
#define FIB_TICK      INT64_C(1000000)
#define FIB_TICK_LONG INT64_C(4000000)

/*
 * One tick: set the coarse clock, wake a sleeping carrier if there is work for it, print recorded
 * events. Returns the time until the next tick, ns; 0: every carrier sleeps, and the caller may
 * rest until its waker is called.
 */
int64_t fib_tick(int64_t now);

/*
 * Add and remove a scheduler. Any thread. The service thread does not access s after
 * fib_tick_remove() has returned.
 */
void fib_tick_add(struct fib_sched *s);
void fib_tick_remove(struct fib_sched *s);

/*
 * Call fn with each scheduler, under the lock of the list. From then on a thread that adds or
 * removes one waits until fib_tick_open() is called, and nothing is done at ticks.
 */
void fib_tick_close(void (*fn)(struct fib_sched *s, void *arg), void *arg);
void fib_tick_open(void);

/*
 * Block other threads while the process forks; in the child, with the lock: forget the parent's
 * schedulers.
 */
void fib_tick_lock(void);
void fib_tick_unlock(void);
void fib_tick_forget(void);

/*
 * Call fn with the scheduler that has the lowest serial above `after`; it is not freed meanwhile.
 * False when there is none. fn takes no lock and does not wait.
 */
bool fib_tick_next(uint64_t after, void (*fn)(struct fib_sched *s, void *arg), void *arg);

/*
 * If thread tid is a carrier, look where it sleeps as fib_os_thread_place() does, through the file that
 * the carrier keeps open, so that a sandbox need not allow openat(2). False: it is no carrier. By the
 * service thread.
 */
struct fib_sleeper_place;
bool fib_tick_place(uint32_t tid, struct fib_sleeper_place *ret_place, int *ret);

/* Whether there are several runtimes now. */
bool fib_tick_several(void);

/* The number of awake carriers. */
unsigned fib_tick_awake_carriers(void);

/* Totals over all runtimes of this process. */
uint64_t fib_tick_fibers(void); /* live; off by a few while fibers start and exit */
uint32_t fib_tick_carriers(void);

/*
 * The pinned-blocking policy (enum fiber_pinned_policy): reads that of the first runtime, sets that
 * of every runtime. Setting returns the old one. -ESRCH when no runtime runs.
 */
int fib_tick_policy(void);
int fib_tick_set_policy(uint32_t policy);
/* Pinned waits of all runtimes so far, and how many events the rings have dropped. */
uint64_t fib_tick_pinned_events(uint64_t *ret_dropped);

/* How long a fiber may hold its carrier, ns; 0: no limit. Read and set like the policy. */
int64_t fib_tick_long_run(void);
int64_t fib_tick_set_long_run(int64_t ns);

#endif
