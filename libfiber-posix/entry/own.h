/* SPDX-License-Identifier: MIT */
/* own.h - calls of libfiber that make or close a descriptor */
#ifndef FPX_ENTRY_OWN_H
#define FPX_ENTRY_OWN_H

#include <stdbool.h>

#include "call/descriptor.h"
#include "entry/entry.h"

/* Whether a call that makes or closes a descriptor is libfiber's, which knows that. */
static inline bool fpx_is_own(const void *caller)
{
	return fpx_fiber() ? fpx_is_libfiber(caller) : fpx_closing();
}

/* Whether an open from `caller` is the system's. Else it is a cancellation point. */
static inline bool fpx_opens_alone(const void *caller)
{
	if (!fpx_linked || fpx_is_own(caller))
		return true;
	fpx_pass_point();
	return false;
}

#endif
