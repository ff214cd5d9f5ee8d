/* SPDX-License-Identifier: MIT */
/* pinned.h - what happens when a pinned fiber would wait, and the record of when it did. */
#ifndef FIB_WAIT_PINNED_H
#define FIB_WAIT_PINNED_H

#include <stdint.h>

#include "core/record.h"
#include "sched/pinned_data.h"

#define FIB_PINNED_EVENTS 256u
#define FIB_PINNED_STACK  3840u

/* One pinned wait. A reader copies it between two equal, even readings of seq. */
struct fib_pinned_event {
	_Atomic uint64_t seq; /* A: odd while it is written */
	uint64_t number;      /* counts from 0; slot = number % FIB_PINNED_EVENTS */
	uint64_t fiber;
	int64_t began;	  /* ns */
	int64_t duration; /* ns; -1 while it lasts, 0 when it was refused */
	uint64_t object;
	uint64_t arg;
	uint32_t kind; /* enum fib_wait_kind */
	uint32_t stack_size;
	char name[32];
	struct fib_context context; /* the walk starts here */
	unsigned char stack[FIB_PINNED_STACK];
	uint64_t stamp;	    /* counts from 0 over all runtimes of the process */
	uint64_t stack_all; /* bytes of it that there were */
};

/* 0, -ENOMEM. */
int fib_pinned_init(struct fib_pinned *p, enum fiber_pinned_policy policy);
void fib_pinned_release(struct fib_pinned *p);

/* May this pinned fiber wait for what its record says? 0: it may, blocking its carrier; -EDEADLK
 * (recorded). By the fiber. */
int fib_pinned_consult(struct fiber *fiber, enum fib_wait_kind kind);

/* Around a wait that blocks the carrier. By the fiber. begin returns what end is given. */
uint64_t fib_pinned_begin(struct fiber *fiber, enum fib_wait_kind kind);
void fib_pinned_end(struct fiber *fiber, uint64_t event);

/* The event in a slot of the ring, below FIB_PINNED_EVENTS. 0; -ENOENT: there never was one; -EAGAIN: it is being written.
 * By the service thread. */
int fib_pinned_copy(struct fib_pinned *p, unsigned slot, struct fib_pinned_event *ret);

/* How many events were recorded so far, in all rings of the process. */
uint64_t fib_pinned_stamps(void);

/* Print a line about what was recorded since the last one, at most one a second. By the service thread. */
void fib_pinned_report(struct fib_pinned *p, int64_t now);

#endif
