/* SPDX-License-Identifier: MIT */
/* cmd_pinned.c - waits of fibers that must not leave their carrier, by the place they happened in. */
#include "fiberctl/events.h"

static int run(const struct ctl_arguments *arguments)
{
	return ctl_events(arguments, FIB_WIRE_RING_PINNED, "pinned wait");
}

const struct ctl_command ctl_pinned = {
	.name = "pinned",
	.usage = "PROCESS",
	.summary = "pinned waits, by the place they happened in",
	.help = "A fiber that is pinned and calls something that has to wait blocks its carrier, "
		"or "
		"is\n"
		"refused ('fiberctl policy'). Each place where that happened: how often, for how "
		"long,\n"
		"which fibers, what they waited for, and the stack. The program keeps the last 256 "
		"of\n"
		"each runtime; under the policy silent it records none. --follow prints a line "
		"for\n"
		"each as it happens, and one more with the whole time when it has ended.\n",
	.least = 1,
	.most = 1,
	.options = CTL_TAKES(CTL_OPT_FOLLOW),
	.run = run,
};
