/* SPDX-License-Identifier: MIT */
/* selection.h - one call of fiber_select() from the inside: select.c, select_turns.c, select_at_once.c */
#ifndef FIB_SYNC_SELECTION_H
#define FIB_SYNC_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/chan.h>

#include "sync/chan.h"
#include "sync/select.h"
#include "wait/thread_wait.h"

/* So many cases need no allocation. */
#define FIB_SELECT_FEW 8u

struct fib_select_place {
	union {
		struct fib_chan_waiter chan;
		struct fib_select_fd_place fd;
	};
	uint32_t turn; /* in places[i]: the case that is looked at, and joined, as the i-th */
};

struct fib_selection {
	struct fiber_select_case *cases;
	struct fib_select_place *places; /* of case i: places[i], but for its turn */
	struct fiber_chan **locks;	 /* room for count; NULL: there are few cases */
	struct fib_waiter wait;		 /* the one there is; the places have copies of it */
	unsigned count;
	const struct fib_fd_ops *ops; /* of descriptors */
	struct fib_thread_wait
		thread_wait; /* of who blocks and waits for descriptors; fds NULL: none */
	unsigned fds;	     /* how many cases are descriptors */
	int timer;	     /* index of the earliest timer, in turn; -1: none */
	int64_t limit;	     /* of the wait: the deadline or that timer */
};

static inline bool fib_case_has_channel(const struct fiber_select_case *c)
{
	return c->op <= FIBER_SELECT_RECV && c->chan;
}

static inline enum fib_chan_side fib_case_side(const struct fiber_select_case *c)
{
	return c->op == FIBER_SELECT_SEND ? FIB_CHAN_SEND : FIB_CHAN_RECV;
}

/* For fib_select_draw_turns(), with more than one case and places[0].turn set (select_turns.c). */
void fib_select_shuffle(struct fib_selection *s);

/* Draw the order in which the cases are looked at and joined. */
static inline void fib_select_draw_turns(struct fib_selection *s)
{
	s->places[0].turn = 0;
	if (s->count > 1)
		fib_select_shuffle(s);
}

/* Look at all channels and timers at one moment, and do the first in turn that can be done: its index, or -1: at
 * that moment none could be done. Not at descriptors. While the wait is not armed. */
int fib_select_look_at_once(struct fib_selection *s);

#endif
