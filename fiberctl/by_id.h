/* SPDX-License-Identifier: MIT */
/* by_id.h - the common part of `cancel` and `wake` */
#ifndef FIBERCTL_BY_ID_H
#define FIBERCTL_BY_ID_H

#include "fiberctl/fiberctl.h"
#include "wire/wire.h"

/* Do `what` to the fiber of the command line and print the result. Returns the exit code. */
int ctl_act_by_id(const struct tool_command *command, enum fib_wire_act_what what,
		  const struct tool_arguments *arguments);

#endif
