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
	.summary = "fibers that held their carrier too long",
	.help = "A fiber that computes without a pause, or blocks in a system call, delays all\n"
		"fibers behind it. The program reports each run that is longer than a threshold\n"
		"('fiberctl watchdog'), once. For each place where that happened: how often,\n"
		"when, for how long, which fibers, whether they computed or in which system call\n"
		"they were, and the stack. The program keeps the last 128. --follow prints a line\n"
		"for each as it happens, and another line with its duration when it has ended.\n",
	.example = "slow hog\n"
		   "3 times computing: hog_spin at fixtures/hog.c:39 [176ms in all, ...\n"
		   "  #4  hog_spin+0x20 at fixtures/hog.c:39\n"
		   "  #5  hold_once (inlined) at fixtures/hog.c:82\n"
		   "...\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_ALL_FRAMES) | TOOL_TAKES(TOOL_OPT_FOLLOW),
	.run = run,
};
