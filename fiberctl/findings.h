/* SPDX-License-Identifier: MIT */
/* findings.h - how many fibers the findings of each rule of `why` concern, from one look */
#ifndef FIBERCTL_FINDINGS_H
#define FIBERCTL_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/text/error.h"
#include "inspect/why/rules.h"

/* A zeroed struct is one of a look that was not made. */
struct ctl_findings {
	bool looked;		    /* false: the rest is invalid */
	uint64_t fibers[INS_RULES]; /* of ins_rules_count() */
};

struct ctl_look_time {
	int64_t silence; /* longest wait for one part of the answer, ns */
	int64_t all;	 /* for the whole answer, ns */
};

/*
 * Look once at the fibers of the process behind a socket; pid 0: not known. A look takes at most
 * time->all + time->silence. Returns 0, or a negative errno with error set; ret is valid in both
 * cases.
 */
int ctl_findings_of_socket(const char *path, pid_t pid, const struct ctl_look_time *time,
			   struct ctl_findings *ret, struct ins_error *error);

/* The same for the fibers in a snapshot. */
int ctl_findings_of_snapshot(const char *path, struct ctl_findings *ret, struct ins_error *error);

#endif
