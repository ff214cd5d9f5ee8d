/* SPDX-License-Identifier: MIT */
/*
 * tool.h - the common part of fiberctl and fibertrace
 *
 * A tool is a table of commands and a function that opens the target of a command. A command is a
 * file cmd_<name>.c and a line in the table of each tool that has it. Commands of both tools are in
 * tool/cmd/ and need only a source.
 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/text/error.h"
#include "inspect/model/source.h"
#include "tool/options.h"

/* Exit codes; scripts rely on them. */
enum {
	TOOL_WELL = 0,
	TOOL_PARTIAL = 1,
	TOOL_CANNOT = 2,
	TOOL_FOUND = 3,
	TOOL_SLOW = 4,
	TOOL_USAGE = 64
};

struct tool_command {
	const char *name;
	const char *usage;   /* words after the name */
	const char *summary; /* one line for --help */
	const char *help;    /* text of help NAME */
	const char *example; /* for it: words after the tool's name, then output; real, but cut */
	int least, most;     /* number of words */
	uint64_t options;    /* TOOL_TAKES() of its options */
	bool passes;	     /* it passes words and options on to another command */
	bool live;	     /* its PROCESS must be running, not a file */
	bool threads;	     /* it can show threads in place of fibers */
	/* Runs the command. Returns the exit code. */
	int (*run)(const struct tool_arguments *arguments);
};

/* A description of a tool: each program passes its own to tool_main(). */
struct tool {
	const char *name;
	const char *usage;			    /* printed before the commands in --help */
	const char *exits;			    /* the exit status, printed after them */
	const struct tool_command *const *commands; /* in the order of --help; ends with NULL */
	const struct tool_command *bare;	    /* the default command */
	bool bare_takes;  /* a first word that is no command belongs to the default command */
	uint64_t options; /* TOOL_TAKES() of the options of every command that opens a source */

	/*
	 * Turns options into words, before the words are checked. Returns TOOL_WELL, or the exit
	 * code after a message. May be NULL.
	 */
	int (*arrange)(struct tool_arguments *arguments);

	/*
	 * Opens the target `who`, a word of the command line. Returns TOOL_WELL or tool_cannot().
	 */
	int (*open)(const struct tool_arguments *arguments, const char *who,
		    struct ins_source **ret);

	/* Called after the command. May be NULL. */
	void (*ended)(const struct tool_arguments *arguments);
};

/* The running tool; set first by tool_main(). */
extern const struct tool *tool;

#endif
