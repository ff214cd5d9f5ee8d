/* SPDX-License-Identifier: MIT */
/* pinned.h - waits of pinned fibers: the policy, and a record of each */
#ifndef FIB_WAIT_PINNED_H
#define FIB_WAIT_PINNED_H

#include <stdint.h>

#include "core/record.h"
#include "sched/pinned_data.h"

#define FIB_PINNED_EVENTS 256u
#define FIB_PINNED_STACK  3840u

/* One pinned wait. A reader copies it between two equal, even reads of seq. */
struct fib_pinned_event {
	_Atomic uint64_t seq; /* A: odd while it is written */
	uint64_t number;      /* counts from 0; slot = number % FIB_PINNED_EVENTS */
	uint64_t fiber;
	int64_t began;	  /* ns */
	int64_t duration; /* ns; -1 while it lasts, 0 if it was refused */
	uint64_t object;
	uint64_t arg;
	uint32_t kind; /* enum fib_wait_kind */
	uint32_t stack_size;
	char name[32];
	uint64_t entry;		    /* the fiber's function */
	struct fib_context context; /* the walk starts here */
	unsigned char stack[FIB_PINNED_STACK];
	uint64_t stamp;	    /* counts from 0 over all runtimes of the process */
	uint64_t stack_all; /* bytes of stack in use, which may be more than were copied */
};

/* Returns 0 or -ENOMEM. */
int fib_pinned_init(struct fib_pinned *p, enum fiber_pinned_policy policy);
void fib_pinned_release(struct fib_pinned *p);

/*
 * Ask the policy whether this pinned fiber may wait for what its record says. Returns 0: it may,
 * and blocks its carrier; or -EDEADLK, and records the event. By the fiber.
 */
int fib_pinned_consult(struct fiber *fiber, enum fib_wait_kind kind);

/* Around a wait that blocks the carrier. By the fiber. end takes what begin returned. */
uint64_t fib_pinned_begin(struct fiber *fiber, enum fib_wait_kind kind);
void fib_pinned_end(struct fiber *fiber, uint64_t event);

/*
 * Copy the event in a slot below FIB_PINNED_EVENTS. Returns 0; -ENOENT: the slot was never used;
 * -EAGAIN: it is being written. By the service thread.
 */
int fib_pinned_copy(struct fib_pinned *p, unsigned slot, struct fib_pinned_event *ret);

/* How many events have been recorded in all rings of the process. */
uint64_t fib_pinned_stamps(void);

/*
 * Print a line about the events since the last line, at most one a second. pipe: returns the pipe
 * for fib_fiber_text(). By the service thread.
 */
struct fib_os_pipe;
void fib_pinned_report(struct fib_pinned *p, int64_t now, struct fib_os_pipe *pipe(void));

#endif
