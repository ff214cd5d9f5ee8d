/* SPDX-License-Identifier: MIT */
/*
 * options.h - all options of the tools
 *
 * An option means the same for every command and may be anywhere on the command line. An option
 * with a value may be given once, except --where: all its expressions must be true. Help and shell
 * completions are made from this table too.
 */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tool_command;

enum tool_option_id {
	TOOL_OPT_ALL,
	TOOL_OPT_ALL_FRAMES,
	TOOL_OPT_ALLOW_CHANGES,
	TOOL_OPT_ARGS,
	TOOL_OPT_BLOCK,
	TOOL_OPT_COLUMNS,
	TOOL_OPT_CORE,
	TOOL_OPT_CPU,
	TOOL_OPT_DEBUG_DIR,
	TOOL_OPT_DEEP,
	TOOL_OPT_DOT,
	TOOL_OPT_EACH,
	TOOL_OPT_EXE,
	TOOL_OPT_FOLDED,
	TOOL_OPT_FOLLOW,
	TOOL_OPT_FOR,
	TOOL_OPT_FORCE,
	TOOL_OPT_FRAMES,
	TOOL_OPT_GROUP_BY,
	TOOL_OPT_HTML,
	TOOL_OPT_INTERVAL,
	TOOL_OPT_LIMIT,
	TOOL_OPT_LISTEN,
	TOOL_OPT_LOCALS,
	TOOL_OPT_MIN,
	TOOL_OPT_MODULE,
	TOOL_OPT_NO_FINDINGS,
	TOOL_OPT_NO_PAUSE,
	TOOL_OPT_ONCE,
	TOOL_OPT_OUTPUT,
	TOOL_OPT_PERFETTO,
	TOOL_OPT_PPROF,
	TOOL_OPT_RING,
	TOOL_OPT_SINCE,
	TOOL_OPT_SNAPSHOT,
	TOOL_OPT_SORT,
	TOOL_OPT_SOURCE,
	TOOL_OPT_SPEEDSCOPE,
	TOOL_OPT_STACKS_EVERY,
	TOOL_OPT_STACKS_ONLY,
	TOOL_OPT_STOP,
	TOOL_OPT_SVG,
	TOOL_OPT_SYSROOT,
	TOOL_OPT_THREADS,
	TOOL_OPT_TOKEN_FILE,
	TOOL_OPT_VERBOSE,
	TOOL_OPT_WAIT,
	TOOL_OPT_WHERE,
	TOOL_OPT_COUNT
};
#define TOOL_TAKES(option) (UINT64_C(1) << (option))

struct tool_option {
	const char *name;
	char letter;	      /* 0: none */
	const char *argument; /* "EXPR"; NULL: none */
	const char *summary;
};

extern const struct tool_option tool_options[TOOL_OPT_COUNT];

enum { TOOL_WORDS = 8 }; /* after the command's name */

struct tool_arguments {
	bool json;  /* --json: one object */
	bool lines; /* --json=lines: an object a line; json is set too */
	bool color; /* use escape sequences on standard output */
	bool help, version;
	unsigned colors; /* number of --color options */
	uint64_t given;	 /* TOOL_TAKES() of the given options */
	const char *option
		[TOOL_OPT_COUNT]; /* the argument; "": the option takes none; NULL: not given */
	int words;
	const char *word[TOOL_WORDS]; /* words after the command's name */
	const char *command;	      /* NULL: none */
};

/* Parse the command line. False: getopt or this function printed an error. */
bool tool_options_parse(int argc, char **argv, struct tool_arguments *ret);

/*
 * The option's argument as a number from least to most; fallback if not given. False after a line
 * on stderr.
 */
bool tool_option_number(const struct tool_arguments *arguments, enum tool_option_id id,
			uint64_t least, uint64_t most, uint64_t fallback, uint64_t *ret);

/*
 * The words of another command about the same fibers, for a message: "PROCESS", or "PROCESS --module
 * NAME". Not escaped. Returns buf.
 */
const char *tool_options_who(const struct tool_arguments *arguments, char *buf, size_t size);

/* Parse decimal digits. False for anything else, and for numbers outside the range. */
bool tool_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret);

/* Parse a fiber's id. False for anything else. */
bool tool_parse_id(const char *text, uint64_t *ret);

/* --frames; 0 if not given. False after a line on stderr. */
bool tool_option_frames(const struct tool_arguments *arguments, unsigned *ret);

/*
 * The option's argument as a length of time: "20ms", "1.5s", "2m"; a plain number is seconds. *ret
 * in ns.
 */
bool tool_option_duration(const struct tool_arguments *arguments, enum tool_option_id id,
			  int64_t fallback, int64_t *ret);

/* Whether standard output is a terminal with more than plain lines (not TERM=dumb). */
bool tool_option_terminal(void);

#endif
