/* SPDX-License-Identifier: MIT */
/* lacks.h - what a read of memory did not find, counted, and said in the end. */
#ifndef INS_LACKS_H
#define INS_LACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/text/error.h"

struct ins_lacks {
	uint64_t unresolved; /* fibers whose wait object could not be read */
	uint64_t unlabelled; /* fibers whose labels could not be read */
	uint64_t
		overlapping; /* fibers whose stacks were not read: together they are larger than what there is */
	uint64_t vanished; /* fibers whose record could not be read a second time */
};

/* A problem for each that is not 0. core: it was a core that was read, else a process. */
void ins_lacks_say(const struct ins_lacks *lacks, bool core, struct ins_problems *problems);

#endif
