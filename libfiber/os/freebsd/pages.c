/* SPDX-License-Identifier: MIT */
/* pages.c - which pages are in a core file */
#include <sys/mman.h>

#include "os/bsd/system.h"

void fib_bsd_in_cores(void *at, size_t size, bool in)
{
	madvise(at, size, in ? MADV_CORE : MADV_NOCORE);
}
