/* SPDX-License-Identifier: MIT */
/* profile_show.h - the outputs of the command 'profile' */
#ifndef FIBERCTL_PROFILE_SHOW_H
#define FIBERCTL_PROFILE_SHOW_H

#include "fiberctl/fiberctl.h"
#include "fiberctl/profile.h"
#include "inspect/render/flames.h"

/* A profile that was collected, and how to show it. */
struct ctl_profile_show {
	const struct tool_arguments *arguments;
	const char *mode; /* "cpu" */
	const struct ins_flame_kind *kind;
	uint64_t limit; /* functions in the table; 0: all */
	int64_t began;	/* ns of CLOCK_REALTIME */
	struct ctl_profile *p;
};

/* Look up the names and write the requested output. Returns the exit code. */
int ctl_profile_show(const struct ctl_profile_show *how);

/* Whether files are requested, in place of a table. */
bool ctl_profile_files(const struct tool_arguments *arguments);

#endif
