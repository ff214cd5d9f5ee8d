/* SPDX-License-Identifier: MIT */
/* cmd_cancel.c - cancel a fiber */
#include "fiberctl/by_id.h"

static int run(const struct tool_arguments *arguments)
{
	return ctl_act_by_id(&ctl_cancel, FIB_WIRE_ACT_CANCEL, arguments);
}

const struct tool_command ctl_cancel = {
	.name = "cancel",
	.usage = "PROCESS ID",
	.summary = "cancel a fiber (FIBER_CONTROL=admin)",
	.help = "Cancels the fiber, as fiber_cancel() does: its current wait, and every later\n"
		"one, returns -ECANCELED. The fiber exits when it acts on that; it is not forced\n"
		"to. A wait that cannot be abandoned yet, because its memory is in use,\n"
		"continues.\n"
		"\n"
		"Refused unless the program was started with FIBER_CONTROL=admin. In both cases\n"
		"the program records the request: see 'fiberctl audit'.\n",
	.example = "cancel labels 3\n"
		   "fiber 3 \"worker-2\": cancelled: its wait (park) ends with -ECANCELED\n",
	.least = 2,
	.most = 2,
	.live = true,
	.run = run,
};
