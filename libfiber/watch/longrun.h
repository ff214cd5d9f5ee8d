/* SPDX-License-Identifier: MIT */
/* longrun.h - find fibers that hold their carrier for too long, and record each with its stack */
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

/* What the fiber did when it was seen. */
enum fib_longrun_doing {
	FIB_LONGRUN_COMPUTES,
	FIB_LONGRUN_CALLS,  /* sleeps in a system call */
	FIB_LONGRUN_FAULTS, /* sleeps outside a system call, until its own memory is loaded */
	FIB_LONGRUN_WAITS,  /* is pinned and waits in a library call */
};

/* Why the event has no stack. */
enum fib_longrun_lack {
	FIB_LONGRUN_NOTHING, /* there is one */
	FIB_LONGRUN_MISSED,  /* the fiber left before its stack was copied */
	FIB_LONGRUN_SIGNAL,  /* the program uses the signal itself, or blocks it */
	FIB_LONGRUN_PORT,    /* this port cannot copy it */
	FIB_LONGRUN_MEMORY,  /* the stack could not be read */
};

/* One long run. The service thread's. */
struct fib_longrun_event {
	uint64_t number; /* counts from 0 in this process; slot = number % FIB_LONGRUN_EVENTS */
	uint64_t fiber;
	int64_t began;	  /* ns; when it was first seen, which may be a tick late */
	int64_t duration; /* ns; so far, while it lasts */
	int64_t call;	  /* CALLS: the system call's number */
	uint64_t object;  /* WAITS: wait_object of the record */
	uint64_t arg;
	uint64_t stack_low, stack_room; /* of the fiber's stack */
	uint64_t entry;			/* the fiber's function */
	uint32_t doing;			/* enum fib_longrun_doing */
	uint32_t lack;			/* enum fib_longrun_lack */
	uint32_t wait_kind;		/* WAITS */
	uint32_t carrier;
	uint32_t lasts; /* 1: still running */
	uint32_t stack_size;
	char name[32];
	struct fib_context context; /* the walk starts here; fp 0: unknown */
	unsigned char stack[FIB_LONGRUN_STACK];
};

/* Returns whether the fiber's stack pointer was outside its stack. */
static inline bool fib_longrun_astray(const struct fib_longrun_event *e)
{
	return e->context.sp && e->stack_low && e->context.sp - e->stack_low > e->stack_room;
}

/*
 * A request for a stack, and the copy. The service thread sets ASKED, the carrier's signal handler
 * sets TAKING and TAKEN, the service thread sets IDLE again (longrun.sample).
 */
struct fib_longrun_sample {
	_Atomic uint32_t state;
	uint32_t lack;
	uint64_t fiber, seq; /* requested; fiber 0: the one that runs then */
	/* Of the copy. */
	uint64_t ran; /* the fiber that ran; 0: none, the carrier was between two fibers */
	uint64_t stack_low, stack_room; /* of its stack */
	uint64_t entry;			/* its function */
	char name[32];
	uint32_t stack_size;
	struct fib_context context;
	unsigned char stack[FIB_LONGRUN_STACK];
};

/* Before the first carrier starts. Returns 0 or -ENOMEM. */
int fib_longrun_init(struct fib_sched *s);
void fib_longrun_release(struct fib_sched *s);

/* Give back the memory of the carriers' profile samples, all of which are idle. */
void fib_longrun_discard_profiles(struct fib_sched *s);

/*
 * The calling carrier can be sampled from now on. Its thread has made all system calls that it
 * makes only at its start.
 */
void fib_longrun_enter(struct fib_carrier *c);

/* Wait until carrier c has called fib_longrun_enter(). */
void fib_longrun_await(struct fib_carrier *c);

/* How long fibers of s may hold their carriers, ns; 0: no limit. Any thread. */
void fib_longrun_set(struct fib_sched *s, int64_t ns);
int64_t fib_longrun_threshold(struct fib_sched *s);

/*
 * Set the function that returns the pipe for copying the stacks of sleeping fibers, and names. The pipe may be
 * closed. The service thread calls the function.
 */
struct fib_os_pipe;
typedef struct fib_os_pipe *fib_longrun_pipe_fn(void);
void fib_longrun_set_pipe(fib_longrun_pipe_fn *pipe);

/* That pipe; one that is not open before one is set. By the service thread. */
struct fib_os_pipe *fib_longrun_pipe(void);

/*
 * Look at the carriers of s. behind: other fibers of s wait for a carrier, or for a carrier to look
 * at deadlines and descriptors. By the service thread, with the lock of the list of schedulers.
 */
void fib_longrun_look(struct fib_sched *s, int64_t now, bool behind);

/*
 * Print a line about a run that delayed other fibers (longrun_report.c). A run that delayed no
 * other fiber gets no line: a program that only computes is in order. As for fib_longrun_look().
 */
void fib_longrun_report(int64_t now);

/* s is removed / this is a forked child, which has no carriers. With that lock. */
void fib_longrun_close(struct fib_sched *s);
void fib_longrun_forget(void);

/* How many events have been recorded. With that lock, as for fib_longrun_event(). */
uint64_t fib_longrun_recorded(void);

/* Event `number`, valid until the lock is released; NULL if it is not in the ring. */
const struct fib_longrun_event *fib_longrun_event(uint64_t number);

#endif
