/* SPDX-License-Identifier: MIT */
/*
 * engine.h - CPUs in virtual time: a carrier, the main thread and the service thread are one each
 *
 * All CPUs run on one thread. The CPU with the smallest time runs. Each has its own machine
 * context, which may be on the stack of a thread or of a fiber.
 */
#ifndef BENCH_MODEL_ENGINE_H
#define BENCH_MODEL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"

#define FIB_MODEL_CPUS \
	259u /* 256 carriers, the service thread, a thread that starts them, main() */

struct fib_cpu {
	struct fib_context context;
	_Atomic uint64_t left;
	void *carrier; /* what base/tls.h keeps */
	const void *waits_for;
	int64_t now;	/* ps */
	int64_t stored; /* ps: when its last store is in its cache */
	unsigned index;
	unsigned place; /* in the heap, from 1 on; 0: not in it */
	bool blocked, ended;
	void (*run)(void *arg);
	void *arg;
	/* What it did; see counts.h. */
	int64_t search_began; /* ps; 0: does not search */
	int64_t searched;     /* ps */
	int64_t spun;	      /* ps: waited for spin locks between two looks at them */
	int64_t stalled;      /* ps: waited for lines */
	int64_t slept;	      /* ps: was blocked */
};

/* The CPU that runs; NULL before fib_engine_begin(). */
extern struct fib_cpu *fib_cpu;

/* The calling thread becomes the first CPU. */
void fib_engine_begin(void);

/* A CPU that will call run(arg) at the present time. When it returns, those that wait for the CPU are woken. */
struct fib_cpu *fib_engine_start(void (*run)(void *arg), void *arg);

/* Let ps pass for the running CPU. Others may run meanwhile. */
void fib_engine_pass(int64_t ps);

/* Let CPUs run that are behind the running one. */
void fib_engine_sync(void);

/*
 * Wait until a CPU calls fib_engine_wake() for what, or until the deadline (ps; INT64_MAX:
 * none). Returns whether it was woken.
 */
bool fib_engine_block(const void *what, int64_t deadline);

/* Wake at most n CPUs that wait for what. Returns how many. */
unsigned fib_engine_wake(const void *what, unsigned n);

/* All CPUs, by index. */
struct fib_cpu *fib_engine_cpus(unsigned *ret_n);

#endif
