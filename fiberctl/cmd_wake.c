/* SPDX-License-Identifier: MIT */
/* cmd_wake.c - end a fiber_park() whose unpark was forgotten */
#include "fiberctl/by_id.h"

static int run(const struct tool_arguments *arguments)
{
	return ctl_act_by_id(&ctl_wake, FIB_WIRE_ACT_WAKE, arguments);
}

const struct tool_command ctl_wake = {
	.name = "wake",
	.usage = "PROCESS ID",
	.summary = "wake a parked fiber (FIBER_CONTROL=admin)",
	.help = "What fiber_unpark() does, for a fiber that waits in fiber_park() and for no\n"
		"other: any other wait that returned would say that something was granted, a lock\n"
		"or a byte, which nobody has granted.\n"
		"\n"
		"Refused unless the program was started with FIBER_CONTROL=admin. Either way it\n"
		"is noted: see 'fiberctl audit'.\n",
	.least = 2,
	.most = 2,
	.live = true,
	.run = run,
};
