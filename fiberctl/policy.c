/* SPDX-License-Identifier: MIT */
/* policy.c - names of the policies for pinned blocking */
#include "fiberctl/policy.h"

#include <fiber/runtime.h>

const char *ctl_policy_name(unsigned policy)
{
	switch (policy) {
	case FIBER_PINNED_WARN:
		return "warn";
	case FIBER_PINNED_ERROR:
		return "error";
	case FIBER_PINNED_SILENT:
		return "silent";
	default:
		return "unknown";
	}
}
