/* SPDX-License-Identifier: MIT */
/* background_data.h - what a scheduler keeps for background.h. */
#ifndef FIB_SCHED_BACKGROUND_DATA_H
#define FIB_SCHED_BACKGROUND_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

/* One per scheduler. Zeroed is empty. */
struct fib_background {
	_Atomic uint32_t lock;
	bool finishing;	      /* L */
	struct fib_list list; /* L: from the submission of a fiber to its end */
};

#endif
