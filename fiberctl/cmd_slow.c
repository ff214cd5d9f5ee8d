/* SPDX-License-Identifier: MIT */
/* cmd_slow.c - print fibers that held their carrier for long, grouped by place */
#include "fiberctl/events.h"

static int run(const struct tool_arguments *arguments)
{
	return ctl_events(arguments, FIB_WIRE_RING_SLOW, "long run");
}

const struct tool_command ctl_slow = {
	.name = "slow",
	.usage = "PROCESS",
	.summary = "fibers that held their carrier for long",
	.help = "A fiber that computes without a pause, or blocks in a system call, keeps\n"
		"everybody behind it waiting. The program reports each that takes longer than a\n"
		"threshold ('fiberctl watchdog'), once. Each place where that happened: how\n"
		"often, when, for how long, which fibers, whether it computed or in which system\n"
		"call it sat, and the stack. The program keeps the last 128. --follow prints a\n"
		"line for each as it happens, and one more with the whole time when it has\n"
		"ended.\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_FOLLOW),
	.run = run,
};
