/* SPDX-License-Identifier: MIT */
/* selection.h - the state of one fiber_select() call: select.c, select_turns.c, select_at_once.c */
#ifndef FIB_SYNC_SELECTION_H
#define FIB_SYNC_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/chan.h>

#include "sync/chan.h"
#include "sync/select.h"
#include "wait/thread_wait.h"

/* Up to this many cases need no allocation. */
#define FIB_SELECT_FEW 8u

struct fib_select_place {
	union {
		struct fib_chan_waiter chan;
		struct fib_select_fd_place fd;
	};
	uint32_t turn; /* in places[i]: index of the case looked at and joined as the i-th */
};

struct fib_selection {
	struct fiber_select_case *cases;
	struct fib_select_place *places; /* places[i] belongs to case i, except for its turn */
	struct fiber_chan **locks;	 /* room for count entries; NULL with few cases */
	struct fib_waiter wait;		 /* the only wait; the places hold copies of it */
	unsigned count;
	const struct fib_fd_ops *ops;	    /* for descriptors */
	struct fib_thread_wait thread_wait; /* for a thread that blocks on them; fds NULL: unused */
	unsigned fds;			    /* number of descriptor cases */
	int timer;     /* index of the earliest timer, first in turn; -1: none */
	int64_t limit; /* when the wait ends: the deadline or that timer */
};

static inline bool fib_case_has_channel(const struct fiber_select_case *c)
{
	return c->op <= FIBER_SELECT_RECV && c->chan;
}

static inline enum fib_chan_side fib_case_side(const struct fiber_select_case *c)
{
	return c->op == FIBER_SELECT_SEND ? FIB_CHAN_SEND : FIB_CHAN_RECV;
}

/*
 * For fib_select_draw_turns(), if there are several cases and places[0].turn is set
 * (select_turns.c).
 */
void fib_select_shuffle(struct fib_selection *s);

/* Draw the order in which the cases are looked at and joined. */
static inline void fib_select_draw_turns(struct fib_selection *s)
{
	s->places[0].turn = 0;
	if (s->count > 1)
		fib_select_shuffle(s);
}

/*
 * Look at all channels and timers at one moment and do the first case in turn that is ready.
 * Returns its index; -1: none was ready at that moment. Descriptors are not looked at. The wait
 * must not be armed.
 */
int fib_select_look_at_once(struct fib_selection *s);

#endif
