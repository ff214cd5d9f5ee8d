/* SPDX-License-Identifier: MIT */
/* faults.h - the faults of a schedule: calls that fail because the strategy says so */
#ifndef FIB_TEST_FAULT_H
#define FIB_TEST_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Start a schedule with at most `limit` faults of these kinds, FIBER_TEST_FAULT_*. */
void fib_faults_begin(unsigned kinds, unsigned limit);

/*
 * Whether something of the program's own fails, or an allocation of the program. at: the return
 * address of the call in the program.
 */
bool fib_fault_of_program(const char *what, const void *at);
bool fib_fault_of_allocation(const char *call, const void *at);

#endif
