/* SPDX-License-Identifier: MIT */
/* thread.h - the control protocol: plain threads, which are not fibers and may hold what fibers
 * wait for */
#ifndef FIB_WIRE_THREAD_H
#define FIB_WIRE_THREAD_H

#include <stdint.h>

struct fib_wire_thread {
	uint64_t tid; /* in the pid namespace of the process */
};

enum fib_wire_thread_state {
	FIB_WIRE_THREAD_SLEEPS, /* before and after its stack was copied */
	FIB_WIRE_THREAD_RUNS,	/* or waits for a CPU: its registers cannot be read */
	FIB_WIRE_THREAD_MOVED,	/* it continued each time before its stack was copied */
	FIB_WIRE_THREAD_ENDED,	/* exited, or never was a thread of this process */
	FIB_WIRE_THREAD_HIDDEN, /* the system does not report where it is */
	FIB_WIRE_THREAD_GONE,	/* its stack could not be read */
};

#define FIB_WIRE_THREAD_STACK (128u << 10) /* limit of bytes copied, from its sp upwards */

/* For a thread that sleeps the stack's bytes follow; for any other there are no bytes and no
 * place. */
struct fib_wire_thread_is {
	uint64_t tid;
	int64_t call; /* system call it sleeps in, -1: none, it waits for a page of memory */
	uint64_t sp, pc;
	uint32_t state;	     /* enum fib_wire_thread_state */
	uint32_t stack_size; /* bytes that follow */
	uint32_t cut;	     /* not 0: there was more */
	int32_t error;	     /* HIDDEN: reason, a negative errno; 0: older program, unknown */
};

#endif
