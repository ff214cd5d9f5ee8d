/* SPDX-License-Identifier: MIT */
/* thread.h - the control protocol's words about plain threads, which are no fibers and may hold what fibers wait for. */
#ifndef FIB_WIRE_THREAD_H
#define FIB_WIRE_THREAD_H

#include <stdint.h>

struct fib_wire_thread {
	uint64_t tid; /* as the process knows it */
};

enum fib_wire_thread_state {
	FIB_WIRE_THREAD_SLEEPS, /* and did so before and after its stack was copied */
	FIB_WIRE_THREAD_RUNS,	/* or waits for a CPU: it has its registers for itself */
	FIB_WIRE_THREAD_MOVED,	/* it went on each time before its stack was copied */
	FIB_WIRE_THREAD_ENDED,	/* or it never was one of this process */
	FIB_WIRE_THREAD_HIDDEN, /* the system does not say where it is */
	FIB_WIRE_THREAD_GONE,	/* its stack could not be read */
};

#define FIB_WIRE_THREAD_STACK (128u << 10) /* bytes copied at most, from its sp upwards */

/* Of one that sleeps the bytes follow; of any other there are neither these nor a place. */
struct fib_wire_thread_is {
	uint64_t tid;
	int64_t call; /* number of the system call that it sleeps in, -1: none, it waits for memory of its own */
	uint64_t sp, pc;
	uint32_t state;	     /* enum fib_wire_thread_state */
	uint32_t stack_size; /* bytes that follow */
	uint32_t cut;	     /* not 0: there was more */
	int32_t error;	     /* HIDDEN: why, a negative errno; 0: an older program does not say */
};

#endif
