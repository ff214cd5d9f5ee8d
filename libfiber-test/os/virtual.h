/* SPDX-License-Identifier: MIT */
/* virtual.h - the clock of a schedule; outside a schedule it is the system's */
#ifndef FIB_TEST_OS_VIRTUAL_H
#define FIB_TEST_OS_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Start the clock of a schedule at 1 s; stop it: fib_os_now() is the system's clock again. nearest
 * returns the nearest deadline of all, ns; INT64_MAX: none.
 */
void fib_virtual_begin(int64_t (*nearest)(void));
void fib_virtual_end(void);

/*
 * Whether the calling thread lives in virtual time: the one that runs the schedule, and a helper
 * thread that it waits for, which calls fib_virtual_follow() first. Other threads of the program
 * are not controlled.
 */
void fib_virtual_follow(void);
bool fib_virtual_here(void);
bool fib_virtual_follows(void); /* the helper thread */

/* fib_os_now() for the loop itself: it is no reading of the program. */
int64_t fib_virtual_now(void);

/*
 * The time of an event of the recorder. Virtual time stands still while fibers run, so each event is
 * at least 1 us later than the one before, which keeps them in order and visible.
 */
int64_t fib_virtual_tick(void);

/* A choice was made: the program does not only read the clock. */
void fib_virtual_chosen(void);

/* Move on to `at`, ns; outside a schedule: sleep until then. Never goes back. */
void fib_virtual_reach(int64_t at);

/*
 * How long to wait in real time for the world outside the process, ns; negative: without a limit.
 */
int64_t fib_virtual_patience(void);
void fib_virtual_set_patience(int64_t ns);

/* The system's clock, ns of CLOCK_MONOTONIC. */
int64_t fib_virtual_real(void);

/* CPU time of this process and of its children that have ended, ns. */
int64_t fib_virtual_cpu(void);

#endif
