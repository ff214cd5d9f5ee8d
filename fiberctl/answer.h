/* SPDX-License-Identifier: MIT */
/* answer.h - the fibers of one process, read from its socket and printed one after another. */
#ifndef FIBERCTL_ANSWER_H
#define FIBERCTL_ANSWER_H

#include "fiberctl/fiberctl.h"
#include "inspect/render.h"

/* What a command does with each fiber. symbols and walk are NULL where it asked for none. */
typedef void ctl_text_fn(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber,
			 struct ins_symbols *symbols, const struct ins_walk *walk);

struct ctl_question {
	const char *process; /* as typed */
	uint64_t id;	     /* one fiber; 0: all */
	bool symbols;	     /* names of functions are wanted */
	bool walks;	     /* backtraces are wanted, names too */
	bool json;
	const char *title; /* text: printed before the first fiber; NULL: nothing */
	ctl_text_fn *text; /* prints one fiber */
};

/* Ask, print all of it and how it ended. The exit code. */
int ctl_answer(const struct ctl_question *question);

#endif
