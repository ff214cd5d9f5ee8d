/* SPDX-License-Identifier: MIT */
/* halt_data.h - what a carrier has for being stopped (watch/halt.c) */
#ifndef FIB_SCHED_HALT_DATA_H
#define FIB_SCHED_HALT_DATA_H

#include <stdint.h>

#include "core/hooks.h"

struct fib_carrier;

enum { FIB_HALT_RUNS, FIB_HALT_ASKED, FIB_HALT_HALTED };

/* S the thread that stops the carriers · H the carrier's signal handler before it sets HALTED, then
 * S · C its carrier · A atomic */
struct fib_halt_data {
	_Atomic uint32_t state; /* A: halt.state; FIB_HALT_* */
	uint64_t at;		/* H: stack pointer of the handler, below its saved registers */
	uint64_t sp;		/* H: where the handler has interrupted it; 0: unknown */
	uint64_t signal_top;	/* H: end of the stack for signals if `at` is on it; else 0 */
	uint64_t stack_low, stack_high; /* S: its own stack; 0: not asked for yet, or unknown */
	struct fib_carrier *next;	/* S: the next carrier that is stopped */
	struct fib_hooked hooked;	/* C */
};

#endif
