/* SPDX-License-Identifier: MIT */
/* beat.h - what gets the service thread up for the next tick of the clock. beat.c says how. The service thread only. */
#ifndef FIB_SERVICE_BEAT_H
#define FIB_SERVICE_BEAT_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

enum { FIB_BEAT_SLOTS = 2 };

struct fib_beat {
	int fd[FIB_BEAT_SLOTS];	    /* -1: none, or lost */
	int64_t at[FIB_BEAT_SLOTS]; /* when it expires, ns; 0: never */
};

/* Without timers (there is no descriptor left) it only says when. */
void fib_beat_open(struct fib_beat *b);
void fib_beat_close(struct fib_beat *b);

/* It is now, and the next tick is to come in `pause` ns at the latest; 0: not before somebody asks again. Returns when it is
 * to come, ns, a moment sooner than that; INT64_MAX: never. */
int64_t fib_beat_next(struct fib_beat *b, int64_t now, int64_t pause);

/* Whether the slots are readable at `next`, which fib_beat_next() gave: then poll(2) needs no time of its own. */
bool fib_beat_sure(const struct fib_beat *b, int64_t next);

void fib_beat_fill(const struct fib_beat *b, struct pollfd slots[FIB_BEAT_SLOTS]);

/* What poll(2) said: a timer that the program has closed is lost. */
void fib_beat_look(struct fib_beat *b, const struct pollfd slots[FIB_BEAT_SLOTS]);

#endif
