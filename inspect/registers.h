/* SPDX-License-Identifier: MIT */
/*
 * registers.h - what the registers held in each frame of a walk
 *
 * A walk is nothing but addresses of code. Where a variable is in a frame depends on the registers that its function
 * would find when it goes on: those that its callees saved, and the frame's end (CFA).
 */
#ifndef INS_REGISTERS_H
#define INS_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/source.h"
#include "inspect/unwind.h"

struct ins_frame_registers {
	uint64_t pc;
	uint64_t cfa;
	bool has_cfa;
	uint32_t known; /* bit n: value[n] is what register n held */
	uint64_t value[INS_REGISTERS];
};

/*
 * The registers of the walk's frames, ret[0] the innermost one's; ret has room for walk->count. Returns for how many
 * frames they are known: fewer than walk->count where a rule is missing or leads elsewhere than the walk went.
 */
unsigned ins_registers_find(struct ins_source *source, const struct ins_fiber *fiber,
			    const struct ins_walk *walk, struct ins_frame_registers *ret);

/* Copy what the fiber's stack, a file's code and constants, or the source's memory hold there: never what a file says of
 * memory that the program writes to. 0 or a negative errno. */
int ins_registers_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
			 void *buf, size_t size);

#endif
