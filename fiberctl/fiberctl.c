/* SPDX-License-Identifier: MIT */
/* fiberctl.c - ask a running program about its fibers: the table of commands. */
#include "fiberctl/fiberctl.h"

#include "fiberctl/by_module.h"
#include "inspect/symbols/fiber_names.h"
#include "tool/cmd/commands.h"
#include "tool/process.h"
#include "tool/report.h"

static const struct tool_command *const commands[] = {
	/* look */
	&tool_list,
	&tool_show,
	&tool_bt,
	&tool_stacks,
	&tool_tree,
	/* why */
	&tool_why,
	&tool_waits,
	&tool_deadlock,
	&ctl_slow,
	&ctl_pinned,
	&ctl_profile,
	/* load */
	&ctl_top,
	&ctl_carriers,
	&ctl_metrics,
	/* keep, compare, repeat */
	&ctl_snapshot,
	&tool_diff,
	&ctl_watch,
	&ctl_serve,
	/* change */
	&ctl_policy,
	&ctl_watchdog,
	&ctl_cancel,
	&ctl_wake,
	&ctl_audit,
	/* shells */
	&tool_completion,
	NULL,
};

static int open_source(const struct tool_arguments *arguments, const char *who,
		       struct ins_source **ret)
{
	int code = arguments->option[TOOL_OPT_MODULE] ? ctl_by_module_open(arguments, who, ret)
						      : tool_process_open(who, ret);

	if (code == TOOL_WELL)
		(*ret)->watched = true;
	if (code == TOOL_WELL && ins_fiber_names_begin(*ret) < 0)
		code = tool_cannot("out of memory");
	return code;
}

const struct tool fiberctl = {
	.name = "fiberctl",
	.usage = "usage: fiberctl [--json]\n"
		 "       fiberctl COMMAND PROCESS [ARGUMENTS] [OPTION]...\n"
		 "\n"
		 "Ask running programs about their fibers, over their control sockets. Without a\n"
		 "command: list the programs that can be asked. PROCESS is a process id, the name\n"
		 "of a program, or the path of a control socket (with a '/'); or a file that\n"
		 "'fiberctl snapshot' wrote. --module reads the fibers of another library from\n"
		 "the program's memory.\n",
	.exits = "Exit status: 0 all well, 1 something is missing (the output says what and why),\n"
		 "2 cannot reach the process or no such fiber, 3 a deadlock was found, 4\n"
		 "'why' found something slow, 64 wrong usage.",
	.commands = commands,
	.bare = &ctl_processes,
	.open = open_source,
};
