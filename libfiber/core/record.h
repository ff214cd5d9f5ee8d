/* SPDX-License-Identifier: MIT */
/*
 * record.h - the fiber as an object
 *
 * A record is the fiber: its saved registers, its state, what it waits for, its stack, its result.
 * Records live in the registry (registry.h), which never unmaps them, so a pointer to one can
 * always be read, by late wakers inside the process and by the tools outside it.
 *
 * The rule for readers: seq is odd while the fiber runs and moves at every switch. Copy the
 * record and the stack between two readings of id and seq; when both are the same and seq is even,
 * the copy is of one moment. (A record that is reused starts at seq 0 with another id.)
 * The carrier stores an odd seq before the fiber's stack may change and an even one after its
 * registers are saved (pairs: record.seq).
 *
 * Whoever takes a fiber from one state to another adds the time since the last change to what it has spent in
 * the state that it leaves. So its times in all states, with the time since the last change, are the time since it was
 * born; no clock but the coarse one is read for it, and within a tick nothing is written.
 *
 * The first cache line holds what a switch touches, the second what a wait touches; a spawn and an end
 * touch these and the two after them. What lies behind is as every fiber leaves it: empty.
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

/* Something on the fiber's own stack that must hear of its end, should it end in there. Newest first. */
struct fib_ending {
	struct fib_ending *outer;
	void (*end)(struct fib_ending *ending); /* by the fiber itself; does not wait */
};

/* cancelled: by whom, and what came of it. */
#define FIB_CANCELLED	     1u
#define FIB_CANCELLED_FINISH 2u /* its runtime finishes: it must end (background.c) */
#define FIB_CANCELLED_TOLD   4u /* it has been told since */
#define FIB_CANCEL_MASKED    8u /* not cancelled by this: its waits are not ended (cancel.c) */

/* life: who still needs the record (join.c). */
#define FIB_LIFE_SUBMITTED 1u
#define FIB_LIFE_DONE	   2u	/* has ended, its stack is gone */
#define FIB_LIFE_DETACHED  4u	/* nobody will join */
#define FIB_LIFE_JOINING   8u	/* `joiner` waits for it */
#define FIB_LIFE_NAMED	   16u	/* its name is to be cleared before the next one's */
#define FIB_LIFE_JOINER	   256u /* above: how often somebody has come to join */

/* I set before it is submitted, then read-only · F the fiber itself or its carrier in its name ·
 * A any thread, atomic · L under the lock named */
struct fiber {
	struct fib_context
		context;       /* F: written by the switch; sp 0: it has not begun, or has ended */
	struct fiber *link;    /* whoever has the fiber: run queue or free list */
	_Atomic uint64_t seq;  /* F, A: readers (record.seq) */
	_Atomic int64_t since; /* whoever changes state, A: readers */
	_Atomic uint8_t state; /* enum fiber_state; F, and whoever makes it runnable */
	_Atomic uint8_t wait_kind; /* F: enum fib_wait_kind */
	uint8_t flags;		   /* I: FIBER_DETACHED ... */
	_Atomic uint8_t cancelled; /* A: FIB_CANCEL*, cancel.gap; all but MASKED stay */
	uint16_t carrier;	   /* F: index of the carrier that runs or last ran it */
	uint16_t pins;		   /* F */

	struct fib_parker parker;
	union {
		uint64_t wait_object; /* F */
		struct fiber
			*before; /* L fresh.lock, of one that has not begun: who came before it */
	};
	uint64_t wait_arg;	   /* F */
	int64_t wait_deadline;	   /* F */
	struct fib_sched *sched;   /* I: set when submitted */
	struct fib_timers *timers; /* L timers->lock: the heap that holds it, or NULL */
	uint32_t timer_slot;	   /* L timers->lock: its slot in it */
	_Atomic uint32_t token;	   /* A: park.token */

	uint64_t id;		 /* I; 0 in a free record */
	uint64_t parent;	 /* I */
	uint64_t cpu;		 /* F: ns, in steps of the coarse clock, like the next two */
	uint64_t runnable;	 /* F: stood in line */
	_Atomic uint64_t waited; /* whoever makes it runnable (record.waited) */
	fiber_fn *fn;		 /* I */
	void *arg;		 /* I */
	uint64_t spawn_pc;	 /* I */

	struct fiber_result result;    /* F, then the joiner */
	struct fib_stack stack;	       /* F: from its begin on; low NULL: the size it will have */
	_Atomic uint32_t life;	       /* A: FIB_LIFE_* */
	_Atomic uint32_t joiner_armed; /* A: join.meet: the ticket of the wait */
	_Atomic uintptr_t joiner;      /* A: join.meet: its parker, + 1 when it blocks */
	int64_t born;		       /* whoever submits it: when; 0: nobody has */

	struct fib_ending *endings;	  /* F; NULL in a free record, like what follows */
	struct fib_exit *exits;		  /* F: exit handlers, the last first */
	struct fib_layout_labels *labels; /* F: NULL: none set yet; readers */
	struct fib_locals *locals;	  /* F: NULL: none set */
	_Atomic uint32_t members;	  /* A: how many live in groups that lie on its stack */
	uint8_t held;			  /* F: locks that it holds alone (held.c), modulo 256 */
	bool unwinds;			  /* F: its frames are being unwound (unwind.c) */
	_Atomic uint8_t asked; /* A: FIB_CANCELLED, for readers outside; 0 while `cancelled` is 0 */
	uint8_t masks; /* F: nesting depth; 0 unless FIB_CANCEL_MASKED is set, but for readers */
	void *group;   /* I: the struct fiber_group it is a member of, or NULL */
	const void *held_last; /* F: the lock it took last, + 1 for a rwlock */
	const void *held_at;   /* F: where: the address after the call */

	struct fiber *group_owner;     /* I: with a group: whose stack it lies on, or NULL */
	void (*ended)(struct fiber *); /* I: with a group: told when it has ended */

	struct fib_list group_link; /* L the group's lock */
	/* L sched->background.lock: its place among those, while it is in there */
	struct fib_list background;
	char name[32]; /* F or the owner of the handle; readers may see it half written */
	/* In a thread's name that joins it: its own would be gone while the fiber still looks at it. */
	struct fib_parker thread_joiner;
	char failure[96]; /* F: fiber_fail's text */

	struct fib_announce announce; /* F */
} fib_aligned(FIB_CACHE_LINE);

/* Submitted at now, ns of the coarse clock. By whoever has it. */
static inline void fib_bear(struct fiber *fiber, int64_t now)
{
	fib_store(&fiber->since, now);
	fiber->born = now;
}

/* From now on it is runnable, and has waited until now unless it begins. By whoever has the fiber. */
static inline void fib_show_runnable(struct fiber *fiber, int64_t now)
{
	const int64_t since = fib_load(&fiber->since);

	if (now != since) {
		if (fib_likely(fib_load(&fiber->state) == FIBER_SUSPENDED))
			fib_store(&fiber->waited,
				  fib_load(&fiber->waited) + (uint64_t)(now - since));
		else
			fiber->born = now;
		/* label: record.waited -- who sees the new time sees what was counted until then. */
		fib_store_release(&fiber->since, now);
	}
	fib_store(&fiber->state, (uint8_t)FIBER_RUNNABLE);
}

/* It leaves the CPU at now, ns of the coarse clock. Most often it came in the same tick, and its second cache line is
 * not touched. By the fiber itself. */
static inline void fib_count_cpu(struct fiber *fiber, int64_t now)
{
	int64_t since = fib_load(&fiber->since);

	if (fib_unlikely(now != since))
		fiber->cpu += (uint64_t)(now - since);
}

/* What sanitizers are told comes on top, in their builds. */
_Static_assert(offsetof(struct fiber, announce) <= 512, "a million fibers are a normal number");

#endif
