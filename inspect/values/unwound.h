/* SPDX-License-Identifier: MIT */
/*
 * unwound.h - what the registers held in each frame of a walk
 *
 * A walk is nothing but addresses of code. Where a variable is in a frame depends on the registers that its function
 * would find when it goes on: those that its callees saved, and the frame's end (CFA).
 */
#ifndef INS_UNWOUND_H
#define INS_UNWOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/model/registers.h"
#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"

struct ins_unwound {
	struct ins_registers registers;
	uint64_t cfa;
	bool has_cfa;
	bool returned; /* its pc is behind a call */
};

/*
 * The walk's frames, ret[0] the innermost one; ret has room for walk->count. Returns of how many the registers are
 * known: fewer than walk->count where a rule is missing or leads elsewhere than the walk went.
 */
unsigned ins_unwound_find(struct ins_source *source, const struct ins_fiber *fiber,
			  const struct ins_walk *walk, struct ins_unwound *ret);

/* Copy what was copied of the fiber, a file's code and constants, or the source's memory hold there: never what a file says of
 * memory that the program writes to. 0 or a negative errno. */
int ins_unwound_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		       void *buf, size_t size);

#endif
