/* SPDX-License-Identifier: MIT */
/*
 * record.h - the fiber as an object
 *
 * A record is the fiber: its saved registers, its state, what it waits for, its stack, its result.
 * Records live in the registry (registry.h), which never unmaps them, so a pointer to one can
 * always be read, by late wakers inside the process and by the tools outside it.
 *
 * The rule for readers: seq is odd while the fiber runs and changes at every switch. Copy the
 * record and the stack between two readings of id and seq. If both are unchanged and seq is even,
 * the copy is of one moment. (A record that is reused starts at seq 0 with another id.) The carrier
 * stores an odd seq before the fiber's stack may change and an even one after its registers are
 * saved (pairs: record.seq).
 *
 * The thread that changes a fiber's state adds the time since the last change to the fiber's time
 * in the old state. So the times in all states, plus the time since the last change, are the time
 * since the fiber was submitted. Only the coarse clock is read, and within a tick nothing is
 * written.
 *
 * The first cache line contains what a switch touches, the second what a wait touches. A spawn and
 * an exit touch these and the two after them. The fields after those are empty again when a fiber
 * has exited.
 */
#ifndef FIB_CORE_RECORD_H
#define FIB_CORE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include <fiber/fiber.h>
#include <fiber/runtime.h>
#include <fiber/sync.h>

#include "arch/arch.h"
#include "base/compiler.h"
#include "base/list.h"
#include "context/context.h"
#include "core/parker.h"
#include "layout/layout.h"
#include "stack/stack.h"

struct fib_exit;
struct fib_locals;
struct fib_sched;
struct fib_timers;

#define FIB_TIMER_NONE UINT32_MAX
#define FIB_READS      3

/* An object on the fiber's own stack that is notified if the fiber exits in there. Newest first. */
struct fib_ending {
	struct fib_ending *outer;
	void (*end)(struct fib_ending *ending); /* called by the fiber itself; must not wait */
};

/* cancelled: the origin of the cancellation, and its progress. */
#define FIB_CANCELLED	       1u
#define FIB_CANCELLED_FINISH   2u /* by its runtime, which finishes: it must exit (background.c) */
#define FIB_CANCELLED_REPORTED 4u /* the fiber has been notified since */
#define FIB_CANCEL_MASKED      8u /* not a cancellation: its waits are not ended (cancel.c) */

/* life: what still needs the record (join.c). */
#define FIB_LIFE_SUBMITTED 1u
#define FIB_LIFE_DONE	   2u	/* has exited, its stack is released */
#define FIB_LIFE_DETACHED  4u	/* will not be joined */
#define FIB_LIFE_JOINING   8u	/* `joiner` waits for it */
#define FIB_LIFE_NAMED	   16u	/* clear its name before the record's next use */
#define FIB_LIFE_LOCAL	   32u	/* spawned by a carrier: see fib_life_check() */
#define FIB_LIFE_JOINER	   256u /* counter in the bits from here: calls that joined */

/* I set before it is submitted, then read-only · F the fiber itself, or its carrier on its behalf ·
 * A any thread, atomic · L under the lock named */
struct fiber {
	struct fib_context context; /* F: written by the switch; sp 0: not started, or exited */
	struct fiber *link;	    /* the owner of the fiber: run queue or free list */
	_Atomic uint64_t seq;	    /* F, A: readers (record.seq) */
	_Atomic int64_t since;	    /* the thread that changes the state, A: readers */
	_Atomic uint8_t state;	    /* enum fiber_state; F, and the thread that wakes it */
	_Atomic uint8_t wait_kind;  /* F: enum fib_wait_kind */
	uint8_t flags;		    /* I: FIBER_DETACHED ... */
	_Atomic uint8_t cancelled;  /* A: FIB_CANCEL*, cancel.gap; all except MASKED stay */
	uint16_t carrier;	    /* F: index of the carrier that runs or last ran it */
	uint16_t pins;		    /* F */

	struct fib_parker parker;
	union {
		uint64_t wait_object; /* F */
		struct fiber *before; /* L fresh.lock, if not started: the one before it */
	};
	uint64_t wait_arg;	   /* F */
	int64_t wait_deadline;	   /* F */
	struct fib_sched *sched;   /* I: set when submitted */
	struct fib_timers *timers; /* L timers->lock: the heap that holds it, or NULL */
	union {
		uint32_t timer_slot;   /* L timers->lock: its slot in it */
		uint32_t pinned_waits; /* F: + 1 after each wait without a switch (wait.c) */
	};
	_Atomic uint32_t token; /* A: park.token */

	uint64_t id;		 /* I; 0 in a free record */
	uint64_t parent;	 /* I */
	uint64_t cpu;		 /* F: ns, in steps of the coarse clock, like the next two */
	uint64_t runnable;	 /* F: waiting for a carrier */
	_Atomic uint64_t waited; /* the thread that wakes it (record.waited) */
	fiber_fn *fn;		 /* I */
	void *arg;		 /* I */
	uint64_t spawn_pc;	 /* I */

	union {
		struct fiber_result result; /* F, then the joiner */
		const void *polled;	    /* F: in a call that polls: its struct pollfd */
	};
	struct fib_stack stack;	       /* F: from its start on; low NULL: the size it will have */
	_Atomic uint32_t life;	       /* A: FIB_LIFE_* */
	_Atomic uint32_t joiner_armed; /* A: join.meet: the ticket of the wait */
	_Atomic uintptr_t joiner;      /* A: join.meet: its parker, + 1 if it blocks */
	int64_t born;		       /* written at submission: the time; 0: not submitted */

	struct fib_ending *endings;	  /* F; NULL in a free record, like the following fields */
	struct fib_exit *exits;		  /* F: exit handlers, last added first */
	struct fib_layout_labels *labels; /* F: NULL: none set yet; read by the tools */
	struct fib_locals *locals;	  /* F: NULL: none set */
	void *tls; /* I: its own block of thread-locals, or NULL: those of its carrier */
	_Atomic uint32_t members; /* A: live members of groups that are on its stack */
	uint8_t held_more;	  /* F: locks held exclusively besides held_last, modulo 256 */
	uint8_t reading;	  /* F: 1: it has held locks for reading (reading.h) */
	_Atomic uint8_t asked; /* A: FIB_CANCELLED, for readers outside; 0 while `cancelled` is 0 */
	uint8_t masks; /* F: nesting depth; 0 without FIB_CANCEL_MASKED, but readers may see more */
	void *group;   /* I: the struct fiber_group it is a member of, or NULL */
	const void *held_last; /* F: a lock that it holds (held.h), + 1 for a rwlock; or NULL */
	const void *held_at;   /* F: where it took it: the address after the call */

	struct fiber *group_owner; /* I: with a group: the fiber whose stack it is on, or NULL */

	struct fib_list group_link; /* L the group's lock */
	/* L sched->background.lock: its node in the list of background fibers, while it is in it */
	struct fib_list background;
	char name[32];		      /* F or the owner of the handle; readers may see a mixture */
	const void *reads[FIB_READS]; /* F: rwlocks that it holds for reading; NULL: a free slot */
	/* The parker of a thread that joins it: the thread's own could be gone while the fiber
	 * still reads it. */
	struct fib_parker thread_joiner;
	uint8_t reads_more; /* F: locks held for reading that are in no slot, modulo 256 */
	bool unwinds;	    /* F: its frames are being unwound (unwind.c) */
	char failure[70];   /* F: fiber_fail's text */

	struct fib_announce announce; /* F */
} fib_aligned(FIB_CACHE_LINE);

/* Note that the fiber is submitted at now, ns of the coarse clock. Called by its owner. */
static inline void fib_bear(struct fiber *fiber, int64_t now)
{
	fib_store(&fiber->since, now);
	fiber->born = now;
}

/*
 * Record that the fiber is runnable from now on. The time until now is waiting, unless the fiber
 * has not started. Called by its owner, also twice for one wake-up: before the fiber gets what it
 * waits for, and when it is queued.
 */
static inline void fib_show_runnable(struct fiber *fiber, int64_t now)
{
	const int64_t since = fib_load(&fiber->since);

	if (now != since) {
		if (fib_likely(fib_load(&fiber->seq) != 0))
			fib_store(&fiber->waited,
				  fib_load(&fiber->waited) + (uint64_t)(now - since));
		else
			fiber->born = now;
		/* label: record.waited -- a reader that sees the new time sees the sum up to it. */
		fib_store_release(&fiber->since, now);
	}
	fib_store(&fiber->state, (uint8_t)FIBER_RUNNABLE);
}

/* The data for sanitizers comes on top, in their builds. */
_Static_assert(offsetof(struct fiber, announce) <= 512, "a million fibers are a normal number");

/*
 * Before a change of `life` while the fiber may exit. A fiber with FIB_LIFE_LOCAL adds DONE in a
 * section of its carrier (sole.h), if that is alone. A fiber that a plain thread has made does not:
 * that thread will join it, which is no reason to end the sole use.
 */
static inline void fib_life_check(const struct fiber *fiber)
{
	if (fib_load(&fiber->life) & FIB_LIFE_LOCAL)
		fib_sole_check();
}

#endif
