/* SPDX-License-Identifier: MIT */
/* time.c - the clock of deadlines */
#include <fiber/time.h>

#include "os/os.h"

int64_t fiber_now(void)
{
	return fib_os_now();
}

int64_t fiber_after(int64_t ns)
{
	int64_t now = fiber_now();

	if (ns >= 0)
		return ns > FIBER_FOREVER - now ? FIBER_FOREVER : now + ns;
	return ns < -now ? 0 : now + ns;
}
