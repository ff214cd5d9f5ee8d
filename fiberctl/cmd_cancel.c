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
	.summary = "ask a fiber to end (FIBER_CONTROL=admin)",
	.help = "What fiber_cancel() does: the fiber's wait, and each that it begins from now on,\n"
		"ends with -ECANCELED. It ends when it acts on that; nothing forces it to. A\n"
		"wait that it may not leave yet, since others use its memory, goes on to its end.\n"
		"\n"
		"Refused unless the program was started with FIBER_CONTROL=admin. Either way it\n"
		"is noted: see 'fiberctl audit'.\n",
	.least = 2,
	.most = 2,
	.live = true,
	.run = run,
};
