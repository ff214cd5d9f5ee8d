/* SPDX-License-Identifier: MIT */
/* cmd_pinned.c - print waits of pinned fibers, grouped by place */
#include "fiberctl/events.h"

static int run(const struct tool_arguments *arguments)
{
	return ctl_events(arguments, FIB_WIRE_RING_PINNED, "pinned wait");
}

const struct tool_command ctl_pinned = {
	.name = "pinned",
	.usage = "PROCESS",
	.summary = "pinned waits, by the place they happened in",
	.help = "A fiber that is pinned and calls something that has to wait blocks its carrier,\n"
		"or is refused ('fiberctl policy'). Each place where that happened: how often,\n"
		"when, for how long, which fibers, what they waited for, and the stack. The\n"
		"program keeps the last 256 of each runtime; under the policy silent it records\n"
		"none.\n"
		"--follow prints a line for each as it happens, and one more with the whole time\n"
		"when it has ended.\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_FOLLOW),
	.run = run,
};
