/* SPDX-License-Identifier: MIT */
/*
 * sched.h - a scheduler: its carriers, and what they share
 *
 * One per runtime. Each carrier is a thread that runs fibers from its own queue, steals from other
 * carriers when its queue is empty, and sleeps when no carrier has work.
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
#include "core/sole.h"
#include "os/kept.h"
#include "poll/choose.h"
#include "poll/poller.h"
#include "sched/background_data.h"
#include "sched/start_queue.h"
#include "sched/idle.h"
#include "sched/inbox.h"
#include "sched/crowd_data.h"
#include "sched/halt_data.h"
#include "sched/longrun_data.h"
#include "sched/counters.h"
#include "sched/pinned_data.h"
#include "sched/profile_data.h"
#include "sched/recorder.h"
#include "sched/runqueue.h"
#include "sched/idle_fibers.h"
#include "sched/steal.h"
#include "sched/timers.h"
#include "sched/trim.h"
#include "stack/pool.h"

#define FIB_CARRIERS_MAX 256u

/*
 * What the C++ runtime keeps per thread: exceptions that are being handled, and how many are in
 * flight. The layout is the C++ ABI's (__cxa_eh_globals).
 */
struct fib_exceptions {
	void *caught;
	unsigned uncaught;
};

/* bits of slow_switch */
#define FIB_SLOW_EXCEPTIONS 1u	/* there is C++: an exception may be in progress */
#define FIB_SLOW_RECORDS    2u	/* events are recorded: recorder.c */
#define FIB_SLOW_OWN_TLS    4u	/* fibers have thread-locals of their own: own_tls.h */
#define FIB_SLOW_LOCALE	    8u	/* fibers without these have locales of their own: locale.h */
#define FIB_SLOW_TRIM	    16u /* stacks of waiting fibers are trimmed: trim.h */
#define FIB_SLOW_HOOKS	    32u /* a collector has hooks for fibers: core/hooks.h */

/*
 * Functions of life/ and watch/ that a carrier calls, each off the hot path: sched/ must not depend
 * on those folders. Set by runtime/sched.c when it starts the scheduler.
 */
struct fib_above {
	void (*bury)(struct fib_carrier *c);	 /* c->departed has been left: wake its joiner */
	void (*tell_ended)(struct fib_sched *s); /* wake callers that wait until s has no fibers */
	void (*tell_cancelled)(struct fiber *fiber); /* a cancelled fiber waits or yields */
	void (*member_ended)(struct fiber *fiber);   /* a member of a group has exited */
	void (*carrier_begins)(
		struct fib_carrier *c); /* c has made all other system calls of its start */
};

struct fib_longrun_sample;

/* I set before start, then read-only · C its carrier only · A any thread, atomic · L under lock */
struct fib_carrier {
	struct fib_sched *sched; /* I */
	unsigned picks;		 /* C: counts down to the next look outside */
	unsigned index;		 /* I */
	unsigned streak;	 /* C: fibers taken from `woken` in a row */
	unsigned looks;		 /* C: number of looks outside */
	struct fiber *current; /* C, and this thread's signal handlers; NULL in the idle context */
	struct fiber *pending; /* C: to run next, once it has left its other carrier */
	/* I: this thread's; NULL without C++ */
	struct fib_exceptions *exceptions;
	bool searching; /* C: counted in idle.word */
	bool has_run;	/* C: a fiber, since its last sleep; for trims_at */
	uint8_t naps;	/* C: searches in a row that found only work to leave alone; idle.c */
	_Atomic uint8_t slow_switch; /* A, read by C: FIB_SLOW_*: extra work at a switch */
	unsigned locks;		     /* C: counts down to the next check of the turn: turn.h */
	struct fib_sole_mark *sole;  /* C: NULL: others use the objects too */
	struct fiber *_Atomic woken; /* A: the fiber that was woken last, taken first */
	_Atomic uint32_t clocked;    /* C writes, A reads: how often it has set the clock */
	uint32_t clocked_seen;	     /* the service thread's */
	_Atomic uint64_t spawned;    /* C writes, A reads: live_count.c */
	_Atomic uint64_t ended;	     /* C writes, A reads: live_count.c */
	struct fib_start_queue start_queue; /* own lock: fibers that have not started */
	struct fib_runqueue queue;	    /* C put and take, A:runqueue.* steal */
	struct fib_inbox inbox;		    /* A: for fibers bound to this carrier */
	struct fib_inbox idle_fibers;  /* A: for idle fibers bound to this carrier: idle_fibers.c */
	bool idle_fibers_turn;	       /* C: idle_fibers is next, not the scheduler's */
	struct fib_timers timers;      /* C add, A drop and expire */
	struct fib_sleeper sleeper;    /* see idle.h */
	struct fib_stack_cache stacks; /* C */
	struct fib_record_cache records; /* C */
	struct fib_context idle;	 /* C */
	_Atomic uint64_t left;		 /* C: the sequence number of `idle`, which is not used */
	struct fib_counters counters;	 /* see counters.h */
	struct fib_announce announce;	 /* C */
	struct fib_announce gone;	 /* C: announcement of a fiber that has just exited */
	int64_t looked;			 /* C: its last look outside, ns of the coarse clock */
	int64_t trims_at;		 /* C: when it wakes for a pass: trim.c; INT64_MAX: not */
	uint64_t turn_of;		 /* C: the fiber at the last check ... */
	uint64_t turn_seq;		 /* C: ... and its seq */
	struct fiber *departed;	  /* C: has exited; its joiner is woken in the idle context */
	uint64_t rand;		  /* C */
	struct fib_sight *sights; /* C: what its last search saw: steal.c */
	_Atomic uint32_t cpu;	  /* C writes, A reads: where it ran at its last look outside */
	pthread_t thread;	  /* I */
	void *tp;		  /* C: the thread's own thread pointer ... */
	ptrdiff_t tls_offset;	  /* C: ... and where fib_tls_carrier() reads, relative to one */
	void *altstack;		  /* C */
	struct fib_above above;	  /* I */
	struct fib_recorder *recorder; /* C: NULL: not recording */

	_Atomic uint32_t tid;		/* C writes, A:longrun.enter reads; 0: not set yet */
	_Atomic uint32_t interruptible; /* C writes, A reads: longrun may send it its signal */
	struct fib_os_kept place;     /* C opens it before setting tid, then the service thread's */
	struct fib_longrun_hold hold; /* the service thread's */
	struct fib_longrun_sample *sample; /* I: longrun.sample */
	struct fib_profile_data profile;   /* see profile_data.h */
	struct fib_halt_data halt;	   /* see halt_data.h */
};

/* Handle events of the poller. On a carrier. */
typedef void fib_dispatch_fn(const struct fib_poll_event *events, int n);

struct fib_sched {
	struct fib_carrier *carriers;	  /* I */
	unsigned carrier_count;		  /* I: with substitutes (watch/crowd.c) */
	unsigned regular;		  /* I: without them; fibers are bound to these */
	_Atomic uint32_t notifies;	  /* A: a carrier that makes a fiber runnable must notify */
	uint64_t serial;		  /* I: counts up from 1, never reused in a process */
	size_t stack_size;		  /* I: default for fibers: all of the class's size */
	size_t guard_size;		  /* I: default for fibers; 0: the library's */
	unsigned stack_class;		  /* I */
	void *runtime;			  /* I: struct fiber_runtime */
	struct fib_poller *poller;	  /* I */
	fib_dispatch_fn *dispatch;	  /* I: set by io */
	void *_Atomic ops;		  /* A: io's (op.c); NULL before the first operation */
	struct fib_inbox inbox;		  /* A */
	struct fib_inbox idle_fibers;	  /* A: idle fibers that wait: idle_fibers.c */
	struct fib_idle idle;		  /* A */
	struct fib_pinned pinned;	  /* A */
	_Atomic uint32_t stopping;	  /* A: carriers exit when they find nothing */
	_Atomic uint64_t submitted;	  /* A: live_count.c */
	_Atomic uint64_t background_live; /* A: background fibers submitted and not exited */
	_Atomic uint64_t background_in;	  /* A: background fibers submitted so far */
	_Atomic uint64_t background_out;  /* A: background fibers exited so far */
	_Atomic uint32_t awaited; /* A: number of callers that wait for `ended` (live_count.told) */
	_Atomic uint32_t ended;	  /* A, futex: changes when no counted fiber is left */
	struct fiber_wait_queue finishers;  /* own lock: fibers that wait for that */
	_Atomic uint32_t visitors;	    /* A: foreign threads in fib_ready() (sched.visit) */
	_Atomic uint32_t polling;	    /* A: a carrier is in the poller (idle.poll) */
	_Atomic uint64_t polls;		    /* A: number of polls, for the tick */
	uint64_t polls_seen;		    /* the service thread only */
	_Atomic uint32_t watching;	    /* A: the poller has been given a descriptor */
	struct fib_crowd crowd;		    /* the service thread's */
	struct fib_sched *next;		    /* L: sched list of tick.c */
	struct fib_sched *next_watching;    /* L: watch.c */
	struct fib_poller_note poller_note; /* I */

	uint8_t relock_policy;		  /* I: enum fiber_relock_policy */
	uint8_t held_policy;		  /* I: enum fiber_held_policy */
	bool unwind;			  /* I: fibers unwind on exit (unwind.c) */
	bool binds;			  /* I: fibers are bound unless they have FIBER_MIGRATES */
	_Atomic bool own_tls;		  /* A: all carriers have FIB_SLOW_OWN_TLS */
	_Atomic bool locales;		  /* A: all carriers have FIB_SLOW_LOCALE */
	bool shared_fpu;		  /* I: fibers share their carrier's FPU control words */
	struct fib_trim trim;		  /* see trim.h */
	struct fib_background background; /* own lock */
	_Atomic int64_t long_run;	  /* A: ns a fiber may hold its carrier; 0: no limit */
	bool interruptible;		  /* I: carriers may take longrun's signal */

	struct fib_recorder *_Atomic recording; /* A: recorder.on; NULL: off */
	struct fib_recorder *recorders;		/* the service thread's: all that were created */
	bool profiled;				/* the service thread's: its carriers are sampled */
};

/* The calling thread's carrier, or NULL. Call again after every switch. */
static inline struct fib_carrier *fib_carrier_self(void)
{
	return fib_tls_carrier();
}

/* The calling thread's fiber, or NULL. Call again after every switch of the carrier. */
static inline struct fiber *fib_self(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c ? c->current : NULL;
}

/* Returns whether carrier c records events. Carrier c only. */
static inline bool fib_records(const struct fib_carrier *c)
{
	return fib_unlikely(fib_load(&c->slow_switch) & FIB_SLOW_RECORDS);
}

/* Exchange c->woken, the fiber woken last. Carrier c only. */
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
 * Make a claimed fiber runnable. From a carrier of its scheduler it goes to the front of that
 * carrier's queue (front) or to its end; from other threads into the inject queue. Wakes a carrier
 * if one sleeps and none searches.
 */
void fib_ready(struct fiber *fiber, bool front);

/*
 * Let other fibers of c run and continue after them; return at once if there are none. fiber: c's
 * current one, not pinned.
 */
void fib_yield(struct fib_carrier *c, struct fiber *fiber);

/* Leave the calling fiber, whose wait is armed. Returns when it has been woken and runs again. */
void fib_switch_out(struct fiber *fiber);

/* Queue fiber, which has not started and whose sched is set, at the end of the queue. */
void fib_ready_new(struct fiber *fiber);

/*
 * Put a new fiber into the start queue of c, the calling carrier of s. Only the first fiber in the
 * queue needs a notification. While there are more, no carrier goes to sleep for lack of work, and
 * carriers that slept before were notified of the first: the last searcher that finds something
 * wakes another one (idle.c). "First" is decided under the lock, because a thief that takes all the
 * others at that moment may have looked too early to see this one.
 */
static inline void fib_put_new(struct fib_sched *s, struct fib_carrier *c, struct fiber *fiber)
{
	if (fib_start_queue_put(&c->start_queue, &c->queue, fiber) && fib_load(&s->notifies))
		fib_idle_notify(s);
}

/*
 * Leave a fiber that has exited: give its stack away and run the next fiber. c->gone holds its
 * announcement; its record may already belong to another fiber. By the fiber itself.
 */
_Noreturn void fib_switch_out_dead(struct fib_carrier *c, const struct fib_stack *stack);

/* Run fiber from the idle context of c; returns when c is idle again. */
void fib_switch_in(struct fib_carrier *c, struct fiber *fiber);

/*
 * Set main(fiber), which a starting fiber runs first. Before the first carrier starts; always the
 * same function.
 */
void fib_set_fiber_main(void (*main)(void *fiber));

/* Take c's next fiber without looking outside, or NULL. Carrier c only. */
struct fiber *fib_next_local(struct fib_carrier *c);

/*
 * Make fiber start with main(fiber) on stack at its first switch. Returns 0 or an error of
 * fib_context_begin().
 */
static inline int fib_start_on(struct fiber *fiber, const struct fib_stack *stack,
			       void (*main)(void *fiber))
{
	fiber->stack = *stack;
	return fib_context_begin(&fiber->context, &fiber->announce, stack->low,
				 fib_stack_usable(stack), main, fiber);
}

/* The main function of carrier c's thread. */
void *fib_carrier_main(void *c);

/* Flags of fibers that are never in a run queue. */
#define FIB_APART (FIBER_BOUND | FIBER_IDLE)

/*
 * How many fibers run between two looks outside (timers, poller, inject queue), and after how many ns
 * of the coarse clock the fiber that leaves is the last one.
 */
#define FIB_LOOK_EVERY	64u
#define FIB_LOOK_WITHIN INT64_C(1000000)

/* The second half of fib_turn_ends(). */
void fib_turn_took(struct fiber *fiber, int64_t now);

/*
 * The fiber leaves the CPU at now, ns of the coarse clock. Usually it came in the same tick, and its
 * second cache line is not touched. Called by the fiber itself.
 */
static inline void fib_turn_ends(struct fiber *fiber, int64_t now)
{
	if (fib_unlikely(fib_load(&fiber->since) != now))
		fib_turn_took(fiber, now);
}

#endif
