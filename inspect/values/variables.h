/* SPDX-License-Identifier: MIT */
/*
 * variables.h - the arguments and local variables of the frames of one fiber
 *
 * What the debug information of each function names where the frame is, with the values that the fiber's stack, its saved
 * registers and, where the source has it, memory hold. A value that is not to be had says why.
 */
#ifndef INS_VARIABLES_H
#define INS_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"

struct ins_symbols;

#define INS_VARIABLES_ARGS   1u
#define INS_VARIABLES_LOCALS 2u

struct ins_variable {
	unsigned
		frame; /* the number of its frame, inlined ones counted, as backtraces are printed */
	bool argument;
	bool available; /* value is one, and not the reason why there is none */
	char *name;	/* as the debug information has it: not for a terminal */
	char *type;	/* harmless */
	char *value;	/* harmless */
};

struct ins_variables {
	uint64_t fiber; /* whose they are */
	size_t count;
	size_t room;
	struct ins_variable *at; /* by frame */
	bool cut;		 /* there were more than are kept */
};

/*
 * Find what is wanted (INS_VARIABLES_*) of the frames of a walk of this fiber. Call it while the fiber's stack is at hand.
 * -ENOMEM, and *ret is NULL.
 */
int ins_variables_find(struct ins_source *source, struct ins_symbols *symbols,
		       const struct ins_fiber *fiber, const struct ins_walk *walk, unsigned wanted,
		       struct ins_variables **ret);
void ins_variables_free(struct ins_variables *variables); /* NULL: nothing */

#endif
