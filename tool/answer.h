/* SPDX-License-Identifier: MIT */
/* answer.h - the fibers of a source, printed one after another. */
#ifndef TOOL_ANSWER_H
#define TOOL_ANSWER_H

#include "tool/tool.h"
#include "inspect/render/render.h"
#include "tool/details.h"

/* What a command does with each fiber. symbols and walk are NULL where it asked for none. */
typedef void tool_text_fn(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber,
			  struct ins_symbols *symbols, const struct ins_walk *walk);

struct tool_question {
	const struct tool_arguments *arguments;
	uint64_t id;	 /* one fiber; 0: all */
	bool symbols;	 /* names of functions are wanted */
	unsigned frames; /* of a backtrace, innermost first; 0: all */
	bool details; /* what is asked for under each frame; text is then the header, and frames follow */
	const struct tool_command *where; /* the one that takes --where; NULL: it does not */
	bool walks;			  /* backtraces are wanted, names too */
	const char *title;		  /* text: printed before the first fiber; NULL: nothing */
	tool_text_fn *text;		  /* prints one fiber */
};

/* Ask, print all of it and how it ended. The exit code. */
int tool_answer(const struct tool_question *question);

#endif
