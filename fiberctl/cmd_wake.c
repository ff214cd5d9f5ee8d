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
	.help = "Wakes the fiber, as fiber_unpark() does. This works only for a fiber that waits\n"
		"in fiber_park(): any other wait that returned early would report a success, such\n"
		"as a lock or a byte received, that did not happen.\n"
		"\n"
		"Refused unless the program was started with FIBER_CONTROL=admin. In both cases\n"
		"the program records the request: see 'fiberctl audit'.\n",
	.example = "wake labels 2\n"
		   "fiber 2 \"worker-1\": woken: its fiber_park returns\n",
	.least = 2,
	.most = 2,
	.live = true,
	.run = run,
};
