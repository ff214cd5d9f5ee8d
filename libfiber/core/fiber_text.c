/* SPDX-License-Identifier: MIT */
/* fiber_text.c - what a message calls a fiber */
#include "core/fiber_text.h"

#include <stdio.h>

#include "os/place.h"

const char *fib_fiber_text(char buf[FIB_LOG_NAME], const char *name, uint64_t entry,
			   struct fib_os_pipe *pipe)
{
	struct fib_os_place place;

	if (*name || !entry || !fib_os_place_find(pipe, entry, &place))
		return fib_log_name(buf, name);
	snprintf(buf, FIB_LOG_NAME, "(%s+0x%llx)", place.module, (unsigned long long)place.offset);
	return buf;
}
