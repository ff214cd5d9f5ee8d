/* SPDX-License-Identifier: MIT */
/* fiberctl.h - what the commands of fiberctl share: their table, their arguments, their exit codes. */
#ifndef FIBERCTL_FIBERCTL_H
#define FIBERCTL_FIBERCTL_H

#include <stdbool.h>
#include <stdint.h>

#include "fiberctl/options.h"
#include "inspect/error.h"

/* Exit codes, a promise to scripts. */
enum { CTL_WELL = 0, CTL_PARTIAL = 1, CTL_CANNOT = 2, CTL_FOUND = 3, CTL_USAGE = 64 };

/* Longest wait for any one piece of an answer, ns. */
#define CTL_TIMEOUT INT64_C(5000000000)

struct ctl_command {
	const char *name;
	const char *usage;   /* what follows the name */
	const char *summary; /* one line for fiberctl --help */
	const char *help;    /* the rest for fiberctl help NAME */
	int least, most;     /* words it takes */
	uint64_t options;    /* CTL_TAKES() of those it takes */
	bool passes;	     /* it passes the others on to another command */
	/* Does it. The exit code. */
	int (*run)(const struct ctl_arguments *arguments);
};

/* In the order of the help; ends with NULL. ctl_processes is what runs without a command. */
extern const struct ctl_command *const ctl_commands[];

extern const struct ctl_command ctl_processes, ctl_list, ctl_show, ctl_bt, ctl_stacks, ctl_tree,
	ctl_waits, ctl_deadlock, ctl_top, ctl_carriers, ctl_metrics, ctl_snapshot, ctl_diff,
	ctl_watch, ctl_policy, ctl_cancel, ctl_wake, ctl_audit, ctl_completion, ctl_slow,
	ctl_pinned, ctl_watchdog;

/* The command of that name, or NULL. */
const struct ctl_command *ctl_command_find(const char *name);

/* Whether the words and options are what the command takes: CTL_WELL, or the exit code after saying what is wrong. */
int ctl_command_takes(const struct ctl_command *command, const struct ctl_arguments *arguments);

/* One line on stderr, "fiberctl: what: why". The exit code for it. */
int ctl_cannot(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int ctl_wrong(const struct ctl_command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A fiber's id from the command line. False for anything else. */
bool ctl_parse_id(const char *text, uint64_t *ret);

/* The exit code after everything was printed to stdout: CTL_PARTIAL with a line on stderr when it could
 * not be written. */
int ctl_written(int code);

#endif
