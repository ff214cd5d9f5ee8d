/* SPDX-License-Identifier: MIT */
/*
 * options.h - every option of fiberctl
 *
 * An option means the same with every command that takes it, and may stand anywhere on the command line. The table is
 * also what the help and the completions of shells are made of.
 */
#ifndef FIBERCTL_OPTIONS_H
#define FIBERCTL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct ctl_command;
struct ins_field;

enum ctl_option_id {
	CTL_OPT_ALL,
	CTL_OPT_COLUMNS,
	CTL_OPT_DOT,
	CTL_OPT_FOLDED,
	CTL_OPT_FOLLOW,
	CTL_OPT_FORCE,
	CTL_OPT_GROUP_BY,
	CTL_OPT_INTERVAL,
	CTL_OPT_LIMIT,
	CTL_OPT_MIN,
	CTL_OPT_ONCE,
	CTL_OPT_OUTPUT,
	CTL_OPT_SORT,
	CTL_OPT_WHERE,
	CTL_OPT_COUNT
};
#define CTL_TAKES(option) (UINT64_C(1) << (option))

struct ctl_option {
	const char *name;
	char letter;	      /* 0: it has none */
	const char *argument; /* "EXPR"; NULL: it takes none */
	const char *summary;
};

extern const struct ctl_option ctl_options[CTL_OPT_COUNT];

enum { CTL_WORDS = 8 }; /* after the command's name */

struct ctl_arguments {
	bool json;  /* --json: one object */
	bool lines; /* --json=lines: an object a line; json is set too */
	bool color; /* escape sequences are wanted on standard output */
	bool help, version;
	uint64_t given; /* CTL_TAKES() of those that were given */
	const char *option
		[CTL_OPT_COUNT]; /* the argument; "" of one that takes none; NULL: not given */
	int words;
	const char *word[CTL_WORDS]; /* those after the command's name */
	const char *command;	     /* NULL: none */
};

/* Take the command line apart. False: getopt, or a line on stderr, has said what is wrong. */
bool ctl_options_parse(int argc, char **argv, struct ctl_arguments *ret);

/* The option's argument as a number from least to most; fallback when it was not given. False after a line on stderr. */
bool ctl_option_number(const struct ctl_arguments *arguments, enum ctl_option_id id, uint64_t least,
		       uint64_t most, uint64_t fallback, uint64_t *ret);

/* The same as a length of time: "20ms", "1.5s", "2m"; a number alone is seconds. *ret in ns. */
bool ctl_option_duration(const struct ctl_arguments *arguments, enum ctl_option_id id,
			 int64_t fallback, int64_t *ret);

/* The field of that name, which an option of the command was given. False after a line on stderr. */
bool ctl_option_field(const struct ctl_command *command, enum ctl_option_id id, const char *name,
		      struct ins_field *ret);

#endif
