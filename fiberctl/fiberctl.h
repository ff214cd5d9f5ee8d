/* SPDX-License-Identifier: MIT */
/* fiberctl.h - the commands that only fiberctl has: they talk to the running program */
#ifndef FIBERCTL_FIBERCTL_H
#define FIBERCTL_FIBERCTL_H

#include "tool/tool.h"

/* The description of this tool. */
extern const struct tool fiberctl;

extern const struct tool_command ctl_processes, ctl_top, ctl_carriers, ctl_metrics, ctl_snapshot,
	ctl_watch, ctl_policy, ctl_cancel, ctl_wake, ctl_audit, ctl_slow, ctl_pinned, ctl_watchdog,
	ctl_serve, ctl_profile;

#endif
