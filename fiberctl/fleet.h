/* SPDX-License-Identifier: MIT */
/* fleet.h - the counters and the findings of one program, or of all */
#ifndef FIBERCTL_FLEET_H
#define FIBERCTL_FLEET_H

#include <stdbool.h>

#include "fiberctl/findings.h"
#include "fiberctl/stats.h"
#include "inspect/text/error.h"

/* One program that was asked. */
struct ctl_process_stats {
	pid_t pid;	/* 0: not visible in our pid namespace */
	char path[108]; /* of its socket, its name in that case; "" for a snapshot */
	bool answered;	/* false: the rest is invalid */
	struct ctl_stats stats;
	bool asked; /* whether its fibers were to be looked at */
	struct ctl_findings findings;
	uid_t owner;	/* of its socket's folder */
	int64_t failed; /* ns that a look took which failed */
};

struct ctl_fleet {
	/* Set by the caller: */
	bool json; /* a problem is text of the answer, and not a line on stderr */
	bool look; /* look at the fibers, for findings */
	/* The result: */
	struct ctl_process_stats *all;
	size_t count;
	struct ins_problems problems;
	const char *source; /* "control", or "snapshot" */
	int code;	    /* for the exit */
};

/* Ask all processes of this user, for root of all users. Sets the code. */
void ctl_fleet_ask_all(struct ctl_fleet *fleet);

/* Ask the process or snapshot that `who` names. TOOL_WELL, or the exit code after a message. */
int ctl_fleet_ask_one(struct ctl_fleet *fleet, const char *who);

void ctl_fleet_free(struct ctl_fleet *fleet);

#endif
