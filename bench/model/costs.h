/* SPDX-License-Identifier: MIT */
/*
 * costs.h - what the steps of a carrier cost, in ps of virtual time
 *
 * Measured on two CPUs of an AMD EPYC in a virtual machine, except the transfer of a line: the two
 * CPUs share a cache and need 40 ns, CPUs of different chips 100 ns and more.
 */
#ifndef BENCH_MODEL_COSTS_H
#define BENCH_MODEL_COSTS_H

#include <stdint.h>

#define NS INT64_C(1000)
#define US (1000 * NS)

/* An access that the compiler has not kept in a register, with the instructions around it. */
#define COST_ACCESS 200
#define COST_LOCKED (2500 - COST_ACCESS) /* a locked instruction or a full fence */
#define COST_SWITCH (5 * NS)		 /* from one fiber to the next, with its return */
#define COST_RELAX  24800
#define COST_CLOCK  (20 * NS)
#define COST_YIELD  (360 * NS) /* sched_yield(2) */
#define COST_CALL   (300 * NS) /* a system call that does not wait */
#define COST_WAKE   (7 * US)   /* the call that wakes a sleeping thread */
#define COST_WAKING (35 * US)  /* from that call to the first instruction of the woken thread */
#define COST_EVENT  (100 * NS) /* one descriptor that epoll_wait(2) returns */

/* How long before a carrier has to wait for its store buffer. */
#define COST_STORES (1 * US)

/* The transfer of a line; an argument of the program. */
extern int64_t fib_model_line_cost;

#endif
