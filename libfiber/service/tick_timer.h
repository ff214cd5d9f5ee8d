/* SPDX-License-Identifier: MIT */
/*
 * tick_timer.h - wake the service thread for the next tick of the clock. See tick_timer.c. The service thread
 * only.
 */
#ifndef FIB_SERVICE_TICK_TIMER_H
#define FIB_SERVICE_TICK_TIMER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

enum { FIB_TICK_TIMER_SLOTS = 2 };

struct fib_tick_timer {
	int fd[FIB_TICK_TIMER_SLOTS];	  /* -1: none, or lost */
	int64_t at[FIB_TICK_TIMER_SLOTS]; /* when it expires, ns; 0: never */
};

/* Without timers (no descriptors left) fib_tick_timer_next() only computes the time. */
void fib_tick_timer_open(struct fib_tick_timer *b);
void fib_tick_timer_close(struct fib_tick_timer *b);

/*
 * Set the time of the next tick, at most `pause` ns after now; 0: no further tick until the next
 * call. Returns the time of the tick in ns, which may be a little earlier; INT64_MAX: never.
 */
int64_t fib_tick_timer_next(struct fib_tick_timer *b, int64_t now, int64_t pause);

/*
 * Whether the slots become readable at `next`, a result of fib_tick_timer_next(): poll(2) then needs no
 * timeout.
 */
bool fib_tick_timer_sure(const struct fib_tick_timer *b, int64_t next);

void fib_tick_timer_fill(const struct fib_tick_timer *b, struct pollfd slots[FIB_TICK_TIMER_SLOTS]);

/* Handle the results of poll(2): a timer that the program has closed is dropped. */
void fib_tick_timer_look(struct fib_tick_timer *b, const struct pollfd slots[FIB_TICK_TIMER_SLOTS]);

#endif
