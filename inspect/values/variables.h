/* SPDX-License-Identifier: MIT */
/*
 * variables.h - the room values/: the arguments and local variables of the frames of one fiber
 *
 * Takes: a walk (unwind/unwind.h), the fiber with its stack and registers, and the source's memory.
 * Gives: the variables of each frame, by name, with their values as text.
 * Used by: query/ and render/. Everything else in this room serves this header.
 *
 * The debug information says which variables a frame has and where they are. For a value that is
 * not available, the text is the reason.
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
	unsigned frame; /* number of its frame in a backtrace, inlined ones counted */
	bool argument;
	bool available; /* value is a value, not the reason why there is none */
	char *name;	/* as in the debug information: not escaped for a terminal */
	char *type;	/* escaped */
	char *value;	/* escaped */
};

struct ins_variables {
	uint64_t fiber; /* the fiber's id */
	size_t count;
	size_t room;
	struct ins_variable *at; /* by frame */
	bool cut;		 /* there were more than are kept */
};

/*
 * Find the variables in `wanted` (INS_VARIABLES_*) of the frames of a walk of this fiber. Call it
 * while the fiber's stack is available. After -ENOMEM *ret is NULL.
 */
int ins_variables_find(struct ins_source *source, struct ins_symbols *symbols,
		       const struct ins_fiber *fiber, const struct ins_walk *walk, unsigned wanted,
		       struct ins_variables **ret);
void ins_variables_free(struct ins_variables *variables); /* NULL: no effect */

#endif
