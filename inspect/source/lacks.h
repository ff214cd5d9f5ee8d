/* SPDX-License-Identifier: MIT */
/* lacks.h - count what a read of memory did not find, and report it at the end */
#ifndef INS_LACKS_H
#define INS_LACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/text/error.h"

struct ins_lacks {
	uint64_t unresolved;  /* fibers whose wait object could not be read */
	uint64_t unlabelled;  /* fibers whose labels could not be read */
	uint64_t overlapping; /* fibers without stacks, as the stacks claim more than exists */
	uint64_t vanished;    /* fibers whose record could not be read again */
};

/* Add a problem for each count that is not 0. core: a core was read, else a process. */
void ins_lacks_say(const struct ins_lacks *lacks, bool core, struct ins_problems *problems);

#endif
