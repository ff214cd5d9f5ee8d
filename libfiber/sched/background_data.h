/* SPDX-License-Identifier: MIT */
/* background_data.h - the per-scheduler data of background.h */
#ifndef FIB_SCHED_BACKGROUND_DATA_H
#define FIB_SCHED_BACKGROUND_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

/* One per scheduler. All zero: empty. */
struct fib_background {
	_Atomic uint32_t lock;
	bool finishing;	      /* L */
	struct fib_list list; /* L: fibers from their submission to their exit */
};

#endif
