/* SPDX-License-Identifier: MIT */
/* faults.h - the faults of a schedule: calls that fail because the strategy says so */
#ifndef FIB_TEST_FAULT_H
#define FIB_TEST_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"

/* Start a schedule with at most `limit` faults of these kinds, FIBER_TEST_FAULT_*. */
void fib_faults_begin(unsigned kinds, unsigned limit);

/*
 * Whether something of the program's own fails, or an allocation of the program. at: the return
 * address of the call in the program.
 */
bool fib_fault_of_program(const char *what, const void *at);
bool fib_fault_of_allocation(const char *call, const void *at);

/* A call of a function of libc by the program, which returns to `at`. */
struct fib_call {
	const char *name;
	const void *at;
};

/* In such a function, if it was called by the program. */
#define FIB_CALL_HERE (&(const struct fib_call){__func__, __builtin_return_address(0)})

/*
 * 0, or the negative errno with which such a call of a fiber fails. call NULL: libfiber calls, by a
 * name of net/own.h; its public function has a place of its own, so 0.
 */
int fib_fault_of_call(const struct fib_call *call, enum fib_fault what);
int fib_fault_of_open(const struct fib_call *call, int flags);
/* waits: the caller would see a connection time out. */
int fib_fault_of_connect(const struct fib_call *call, bool waits);

/*
 * What happens to a datagram that a fiber sends by `call`; NULL: by the public function that it is
 * in. overtakes: another one is queued before it.
 */
enum fib_arrival {
	FIB_ARRIVES,
	FIB_ARRIVES_NEVER,
	FIB_ARRIVES_EARLIER, /* before the last one that is queued */
};

enum fib_arrival fib_fault_of_datagram(const struct fib_call *call, bool (*overtakes)(void *arg),
				       void *arg);

#endif
