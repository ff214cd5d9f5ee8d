/* SPDX-License-Identifier: MIT */
/* policy.h - names of the policies for pinned blocking */
#ifndef FIBERCTL_POLICY_H
#define FIBERCTL_POLICY_H

/* "warn", "error", "silent"; "unknown". */
const char *ctl_policy_name(unsigned policy);

#endif
