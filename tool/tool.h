/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what fiberctl and fibertrace have in common as programs
 *
 * A tool is a table of commands and a way to open what a command is asked about. A command is a file cmd_<name>.c and a line
 * in the table of each tool that has it. The commands that both tools have are in tool/cmd/: they need a source and nothing else.
 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/text/error.h"
#include "inspect/model/source.h"
#include "tool/options.h"

/* Exit codes, a promise to scripts. */
enum { TOOL_WELL = 0, TOOL_PARTIAL = 1, TOOL_CANNOT = 2, TOOL_FOUND = 3, TOOL_USAGE = 64 };

struct tool_command {
	const char *name;
	const char *usage;   /* what follows the name */
	const char *summary; /* one line for --help */
	const char *help;    /* the rest for help NAME */
	int least, most;     /* words it takes */
	uint64_t options;    /* TOOL_TAKES() of those it takes */
	bool passes;	     /* it passes the others on to another command */
	bool live;	     /* its PROCESS is one that runs, and no file */
	/* Does it. The exit code. */
	int (*run)(const struct tool_arguments *arguments);
};

/* A description of a tool: each program passes its own to tool_main(). */
struct tool {
	const char *name;
	const char *usage;			    /* before the commands in --help */
	const char *exits;			    /* the exit status, after them */
	const struct tool_command *const *commands; /* in the order of the help; ends with NULL */
	const struct tool_command *bare;	    /* what runs without a command */
	bool bare_takes;  /* a first word that is no command is the bare one's */
	uint64_t options; /* TOOL_TAKES() of those that go with every command that opens a source */

	/* Make what was given with options into words, before anything else looks at them. The exit code after saying what is
	 * wrong; TOOL_WELL. May be NULL. */
	int (*arrange)(struct tool_arguments *arguments);

	/* Open what `who`, a word of the command line, names. TOOL_WELL, or what tool_cannot() returned. */
	int (*open)(const struct tool_arguments *arguments, const char *who,
		    struct ins_source **ret);

	/* The command has run. May be NULL. */
	void (*ended)(const struct tool_arguments *arguments);
};

/* The tool that runs; set by tool_main() before anything else. */
extern const struct tool *tool;

#endif
