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
	.help = "A pinned fiber that calls a function that has to wait blocks its carrier, or the\n"
		"call is refused ('fiberctl policy'). For each place where that happened: how\n"
		"often, when, for how long, which fibers, what they waited for, and the stack.\n"
		"The program keeps the last 256 of each runtime; under the policy silent it\n"
		"records none.\n"
		"--follow prints a line when such a wait begins, and another line with its\n"
		"duration when it has ended.\n",
	.example = "pinned --follow hog\n"
		   "03:12:07.482    51ms fiber 9 \"pin-0\" pinned in sleep: hog_pin at "
		   "fixtures/h...\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_ALL_FRAMES) | TOOL_TAKES(TOOL_OPT_FOLLOW),
	.run = run,
};
