/* SPDX-License-Identifier: MIT */
/* act.h - what `cancel` and `wake` have in common. */
#ifndef FIBERCTL_ACT_H
#define FIBERCTL_ACT_H

#include "fiberctl/fiberctl.h"
#include "wire/wire.h"

/* Do `what` to the fiber of the command line and say what came of it. The exit code. */
int ctl_act(const struct tool_command *command, enum fib_wire_act_what what,
	    const struct tool_arguments *arguments);

#endif
