/* SPDX-License-Identifier: MIT */
/* policy.h - what the policies of pinned blocking are called. */
#ifndef FIBERCTL_POLICY_H
#define FIBERCTL_POLICY_H

/* "warn", "error", "silent"; "unknown". */
const char *ctl_policy_name(unsigned policy);

#endif
