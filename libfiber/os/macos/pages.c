/* SPDX-License-Identifier: MIT */
/* pages.c - core files have every page: no advice changes this */
#include "os/bsd/system.h"

void fib_bsd_in_cores(void *at, size_t size, bool in)
{
	(void)at;
	(void)size;
	(void)in;
}
