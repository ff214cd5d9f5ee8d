/* SPDX-License-Identifier: MIT */
/* tick_timer.h - what gets the service thread up for the next tick of the clock. tick_timer.c says how. The service thread only. */
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

/* Without timers (there is no descriptor left) it only says when. */
void fib_tick_timer_open(struct fib_tick_timer *b);
void fib_tick_timer_close(struct fib_tick_timer *b);

/* It is now, and the next tick is to come in `pause` ns at the latest; 0: not before somebody asks again. Returns when it is
 * to come, ns, a moment sooner than that; INT64_MAX: never. */
int64_t fib_tick_timer_next(struct fib_tick_timer *b, int64_t now, int64_t pause);

/* Whether the slots are readable at `next`, which fib_tick_timer_next() gave: then poll(2) needs no time of its own. */
bool fib_tick_timer_sure(const struct fib_tick_timer *b, int64_t next);

void fib_tick_timer_fill(const struct fib_tick_timer *b, struct pollfd slots[FIB_TICK_TIMER_SLOTS]);

/* What poll(2) said: a timer that the program has closed is lost. */
void fib_tick_timer_look(struct fib_tick_timer *b, const struct pollfd slots[FIB_TICK_TIMER_SLOTS]);

#endif
