/* SPDX-License-Identifier: MIT */
/* stuck.h - name the deadlock, or the leak, of a schedule in which no fiber can run */
#ifndef FIB_TEST_STUCK_H
#define FIB_TEST_STUCK_H

#include <stdbool.h>

struct fiber_runtime;

/* The runtime of the schedule, and whether its test has returned. */
void fib_stuck_in(struct fiber_runtime *rt);
void fib_stuck_returned(bool returned);

/* End the schedule: deadlock, or leak after the test has returned. */
_Noreturn void fib_stuck(void);

#endif
