/* SPDX-License-Identifier: MIT */
/*
 * sched.h - a scheduler: some carriers, and what they share
 *
 * One per runtime. Each carrier is a thread that runs fibers from its own queue, takes from the
 * others when it has none, and sleeps when nobody has.
 */
#ifndef FIB_SCHED_SCHED_H
#define FIB_SCHED_SCHED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/tls.h"
#include "core/record.h"
#include "core/record_cache.h"
#include "os/kept.h"
#include "poll/choose.h"
#include "poll/poller.h"
#include "sched/background_data.h"
#include "sched/start_queue.h"
#include "sched/idle.h"
#include "sched/inbox.h"
#include "sched/longrun_data.h"
#include "sched/counters.h"
#include "sched/pinned_data.h"
#include "sched/recorder.h"
#include "sched/runqueue.h"
#include "sched/idle_fibers.h"
#include "sched/timers.h"
#include "stack/pool.h"

#define FIB_CARRIERS_MAX 256u

/* What the C++ runtime keeps for each thread: exceptions that are being handled, and how many are under way. The
 * layout is the C++ ABI's (__cxa_eh_globals). */
struct fib_exceptions {
	void *caught;
	unsigned uncaught;
};

/* care */
#define FIB_SLOW_EXCEPTIONS 1u /* there is C++: one may be under way */
#define FIB_SLOW_RECORDS    2u /* what happens is noted: recorder.c */

/*
 * What a carrier calls in the rooms above this one: functions of life/ and watch/, each off the hot path. Who starts the
 * scheduler fills this in (runtime/sched.c).
 */
struct fib_above {
	void (*bury)(struct fib_carrier *c); /* c->departed was left: tell who waits for its end */
	void (*tell_ended)(struct fib_sched *s); /* tell who waits until no fiber of s is left */
	void (*tell_cancelled)(struct fiber *fiber); /* a fiber that is cancelled waits or yields */
	void (*carrier_begins)(
		struct fib_carrier *c); /* c has made every other system call of its start */
};

struct fib_longrun_sample;

/* I set before start, then read-only · C its carrier only · A any thread, atomic · L under ->lock */
struct fib_carrier {
	struct fib_sched *sched; /* I */
	unsigned picks;		 /* C: counts down to the next look at the outside */
	unsigned index;		 /* I */
	unsigned streak;	 /* C: fibers taken from `woken` in a row */
	unsigned looks;		 /* C: at the outside, so far */
	struct fiber *current; /* C, and this thread's signal handlers; NULL in the idle context */
	struct fiber *pending; /* C: to run next, once it has been left elsewhere */
	/* I: this thread's; NULL without C++ */
	struct fib_exceptions *exceptions;
	bool searching;			    /* C: counted in idle.word */
	uint8_t slow_switch;		    /* C: FIB_CARE_*, what a switch is to mind */
	unsigned locks;			    /* C: counts down to the next look at a turn: turn.h */
	struct fiber *_Atomic woken;	    /* A: the fiber that was woken last, taken first */
	_Atomic uint32_t clocked;	    /* C writes, A reads: how often it has set the clock */
	uint32_t clocked_seen;		    /* the service thread's */
	_Atomic uint64_t spawned;	    /* C writes, A reads: live_count.c */
	_Atomic uint64_t ended;		    /* C writes, A reads: live_count.c */
	struct fib_start_queue start_queue; /* own lock: have not begun */
	struct fib_runqueue queue;	    /* C put and take, A:runqueue.* steal */
	struct fib_inbox inbox;		    /* A: for fibers bound to this carrier */
	struct fib_inbox idle_fibers;	    /* A: for idle ones bound to it: idle_fibers.c */
	bool idle_fibers_turn;		    /* C: it is their turn */
	struct fib_timers timers;	    /* C add, A drop and expire */
	struct fib_sleeper sleeper;	    /* see idle.h */
	struct fib_stack_cache stacks;	    /* C */
	struct fib_record_cache records;    /* C */
	struct fib_context idle;	    /* C */
	_Atomic uint64_t left;		    /* C: counts how often `idle` was left; nobody asks */
	struct fib_counters counters;	    /* see counters.h */
	struct fib_announce announce;	    /* C */
	struct fib_announce gone;	    /* C: of a fiber that has just ended */
	uint64_t turn_of;		    /* C: the fiber at the last such look ... */
	uint64_t turn_seq;		    /* C: ... and its seq */
	struct fiber *departed; /* C: has ended, and its joiner is to be told in the idle context */
	uint64_t rand;		/* C */
	pthread_t thread;	/* I */
	void *altstack;		/* C */
	struct fib_above above; /* I */
	struct fib_recorder *recorder; /* C: NULL: it does not record */

	_Atomic uint32_t tid;		   /* C writes, A:longrun.enter reads; 0: not there yet */
	_Atomic uint32_t interruptible;	   /* C writes, A reads: it may be sent longrun's signal */
	struct fib_os_kept place;	   /* C opens it before tid, then the service thread's */
	struct fib_longrun_hold hold;	   /* the service thread's */
	struct fib_longrun_sample *sample; /* I: longrun.sample */
};

/* Called with what the poller gave out. On a carrier. */
typedef void fib_dispatch_fn(const struct fib_poll_event *events, int n);

struct fib_sched {
	struct fib_carrier *carriers;	   /* I */
	unsigned carrier_count;		   /* I */
	_Atomic uint32_t notifies;	   /* A: a carrier that makes a fiber runnable notifies */
	uint64_t serial;		   /* I: counts up from 1, never reused in a process */
	size_t stack_size;		   /* I: default for fibers: all that its class has */
	size_t guard_size;		   /* I: default for fibers; 0: that of the library */
	unsigned stack_class;		   /* I */
	void *runtime;			   /* I: struct fiber_runtime */
	struct fib_poller *poller;	   /* I */
	fib_dispatch_fn *dispatch;	   /* I: set by io */
	void *_Atomic ops;		   /* A: io's (op.c); NULL before the first operation */
	struct fib_inbox inbox;		   /* A */
	struct fib_inbox idle_fibers;	   /* A: idle fibers that wait: idle_fibers.c */
	struct fib_idle idle;		   /* A */
	struct fib_pinned pinned;	   /* A */
	_Atomic uint32_t stopping;	   /* A: carriers end when they find nothing */
	_Atomic uint64_t submitted;	   /* A: live_count.c */
	_Atomic uint64_t background_live;  /* A: background fibers submitted, not yet ended */
	_Atomic uint64_t background_in;	   /* A: background fibers submitted so far */
	_Atomic uint64_t background_out;   /* A: background fibers ended so far */
	_Atomic uint32_t awaited;	   /* A: how many wait for `ended` (live_count.told) */
	_Atomic uint32_t ended;		   /* A, futex: moves when no fiber is left that counts */
	struct fiber_wait_queue finishers; /* own lock: fibers that wait for that */
	_Atomic uint32_t visitors; /* A: threads from elsewhere in fib_ready() (sched.visit) */
	_Atomic uint32_t polling;  /* A: somebody is in the poller (idle.poll) */
	_Atomic uint64_t polls;	   /* A: counts looks into the poller, for the tick */
	uint64_t polls_seen;	   /* the service thread only */
	_Atomic uint32_t watching; /* A: some descriptor has been given to the poller */
	struct fib_sched *next;	   /* L: sched list of tick.c */
	struct fib_sched *next_watching;    /* L: watch.c */
	struct fib_poller_note poller_note; /* I */

	uint8_t relock_policy;		  /* I: enum fiber_relock_policy */
	uint8_t held_policy;		  /* I: enum fiber_held_policy */
	bool unwind;			  /* I: its fibers unwind (unwind.c) */
	struct fib_background background; /* own lock */
	_Atomic int64_t long_run;	  /* A: ns a fiber may hold its carrier; 0: any time */
	bool interruptible;		  /* I: carriers may take longrun's signal */

	struct fib_recorder *_Atomic recording; /* A: recorder.on; NULL: off */
	struct fib_recorder *recorders;		/* the service thread's: all that were made */
};

/* The carrier this thread is, or NULL. Ask again after every switch. */
static inline struct fib_carrier *fib_carrier_self(void)
{
	return fib_tls_carrier();
}

/* The fiber this thread runs, or NULL. Ask again after every switch of a carrier. */
static inline struct fiber *fib_self(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c ? c->current : NULL;
}

/* Whether carrier c notes what it does. Carrier c only. */
static inline bool fib_records(const struct fib_carrier *c)
{
	return fib_unlikely(c->slow_switch & FIB_SLOW_RECORDS);
}

/* Exchange what is in the slot for the fiber woken last. Carrier c only. */
static inline struct fiber *fib_swap_woken(struct fib_carrier *c, struct fiber *fiber)
{
	struct fiber *before;

	if (!c->queue.alone)
		return fib_swap(&c->woken, fiber);
	before = fib_load(&c->woken);
	fib_store(&c->woken, fiber);
	return before;
}

/*
 * Make a fiber that was claimed runnable. From a carrier of its scheduler it goes to the front of that
 * carrier's line (front) or to its end; from elsewhere into the inject queue. Wakes a carrier if one
 * sleeps and nobody searches.
 */
void fib_ready(struct fiber *fiber, bool front);

/* Let the others of c run, and go on behind them; at once when there are none. fiber: c's current one, not
 * pinned. */
void fib_yield(struct fib_carrier *c, struct fiber *fiber);

/* Leave the calling fiber, whose wait is armed. Returns when it was woken and runs again. */
void fib_switch_out(struct fiber *fiber);

/* Make fiber, which has not begun and whose sched is set, runnable at the end of the line. */
void fib_ready_new(struct fiber *fiber);

/* Put it there, on carrier c of s, which runs. As long as there are others to begin nobody lies down for want of
 * work, and whoever has lain down before has been told of the first: the last one that searches and finds something
 * has another one woken (idle.c). Which one is the first is decided under the lock: a thief that takes all others
 * before has looked too early to see it. */
static inline void fib_put_new(struct fib_sched *s, struct fib_carrier *c, struct fiber *fiber)
{
	if (fib_start_queue_put(&c->start_queue, &c->queue, fiber) && fib_load(&s->notifies))
		fib_idle_notify(s);
}

/* Leave a fiber that has ended, for good: give its stack away and run somebody else. c->gone is what was
 * announced of it; its record may be somebody else's. By the fiber itself. */
_Noreturn void fib_switch_out_dead(struct fib_carrier *c, const struct fib_stack *stack);

/* Run fiber from the idle context of c; returns when c is idle again. */
void fib_switch_in(struct fib_carrier *c, struct fiber *fiber);

/* What fibers that begin on a carrier run first: main(fiber). Before the first carrier starts; always the same. */
void fib_set_fiber_main(void (*main)(void *fiber));

/* The next fiber of c without looking outside, or NULL. Carrier c only. */
struct fiber *fib_next_local(struct fib_carrier *c);

/* Make fiber begin with main(fiber) on stack when it is first switched to. 0, or what fib_context_begin() returns. */
static inline int fib_start_on(struct fiber *fiber, const struct fib_stack *stack,
			       void (*main)(void *fiber))
{
	fiber->stack = *stack;
	return fib_context_begin(&fiber->context, &fiber->announce, stack->low,
				 fib_stack_usable(stack), main, fiber);
}

/* A thread's life as carrier c. */
void *fib_carrier_main(void *c);

/* Flags of fibers that never stand in a run queue. */
#define FIB_APART (FIBER_BOUND | FIBER_IDLE)

/* How many fibers run between two looks at the outside (timers, poller, inject queue). */
#define FIB_LOOK_EVERY 64u

#endif
