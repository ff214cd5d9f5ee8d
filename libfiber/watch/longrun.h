/* SPDX-License-Identifier: MIT */
/* longrun.h - fibers that hold their carrier for long: seen from outside, recorded once each, with their stack. */
#ifndef FIB_WATCH_LONGRUN_H
#define FIB_WATCH_LONGRUN_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "sched/longrun_data.h"

struct fib_carrier;
struct fib_sched;

#define FIB_LONGRUN_DEFAULT INT64_C(20000000) /* ns */
#define FIB_LONGRUN_EVENTS  128u
#define FIB_LONGRUN_STACK   16128u

/* What the fiber did when it was looked at. */
enum fib_longrun_doing {
	FIB_LONGRUN_COMPUTES,
	FIB_LONGRUN_CALLS,  /* it sleeps in a system call */
	FIB_LONGRUN_FAULTS, /* it sleeps, and in none: memory of its own is being fetched */
	FIB_LONGRUN_WAITS,  /* it is pinned and waits in a call of the library */
};

/* Why there is no stack, when there is none. */
enum fib_longrun_lack {
	FIB_LONGRUN_NOTHING, /* there is one */
	FIB_LONGRUN_MISSED,  /* it went on before its stack was copied */
	FIB_LONGRUN_SIGNAL,  /* the program keeps the signal for itself, or blocks it */
	FIB_LONGRUN_PORT,    /* this port cannot */
	FIB_LONGRUN_MEMORY,  /* its stack could not be read */
};

/* One long run. The service thread's. */
struct fib_longrun_event {
	uint64_t number; /* counts from 0 in this process; slot = number % FIB_LONGRUN_EVENTS */
	uint64_t fiber;
	int64_t began;	  /* ns; as soon as it was seen, which may be a tick later */
	int64_t duration; /* ns; so far, while it lasts */
	int64_t call;	  /* CALLS: the system call's number */
	uint64_t object;  /* WAITS: for what; see the record */
	uint64_t arg;
	uint64_t stack_low, stack_room; /* of the fiber */
	uint32_t doing;			/* enum fib_longrun_doing */
	uint32_t lack;			/* enum fib_longrun_lack */
	uint32_t wait_kind;		/* WAITS */
	uint32_t carrier;
	uint32_t lasts; /* it goes on */
	uint32_t stack_size;
	char name[32];
	struct fib_context context; /* the walk starts here; fp 0: not known */
	unsigned char stack[FIB_LONGRUN_STACK];
};

/* Whether its stack pointer was outside its stack. */
static inline bool fib_longrun_astray(const struct fib_longrun_event *e)
{
	return e->context.sp && e->stack_low && e->context.sp - e->stack_low > e->stack_room;
}

/* What a carrier is asked for, and hands over: by the service thread to ASKED, by the carrier's signal handler to
 * TAKING and TAKEN, and back by the service thread (longrun.sample). */
struct fib_longrun_sample {
	_Atomic uint32_t state;
	uint32_t lack;
	uint64_t fiber, seq;
	uint32_t stack_size;
	struct fib_context context;
	unsigned char stack[FIB_LONGRUN_STACK];
};

/* Before the first carrier starts. 0, -ENOMEM. */
int fib_longrun_init(struct fib_sched *s);
void fib_longrun_release(struct fib_sched *s);

/* The calling carrier can be looked at from now on, and its thread has made every system call that it makes at start only. */
void fib_longrun_enter(struct fib_carrier *c);

/* Wait until carrier c has entered. */
void fib_longrun_await(struct fib_carrier *c);

/* How long fibers of s may hold their carriers, ns; 0: as long as they like. Any thread. */
void fib_longrun_set(struct fib_sched *s, int64_t ns);
int64_t fib_longrun_threshold(struct fib_sched *s);

/* Copy stacks of fibers that sleep through the pipe that this returns, which may be closed; called by the service thread. */
struct fib_os_pipe;
typedef struct fib_os_pipe *fib_longrun_pipe_fn(void);
void fib_longrun_set_pipe(fib_longrun_pipe_fn *pipe);

/* A look at the carriers of s, and a line about what was recorded since the last one, at most one a second. By the
 * service thread, with the lock of the list of schedulers. */
void fib_longrun_look(struct fib_sched *s, int64_t now);
void fib_longrun_report(int64_t now);

/* s goes, or, in a forked child, everybody has gone. With that lock. */
void fib_longrun_close(struct fib_sched *s);
void fib_longrun_forget(void);

/* How many were recorded so far. With that lock, like what follows. */
uint64_t fib_longrun_recorded(void);

/* Event `number`, valid until the lock is given back; NULL when it is in the ring no more, or not yet. */
const struct fib_longrun_event *fib_longrun_event(uint64_t number);

#endif
