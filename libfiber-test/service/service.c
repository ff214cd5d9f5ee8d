/* SPDX-License-Identifier: MIT */
/* service.c - no service thread; in place of libfiber/service */
#include "service/service.h"

int fib_service_enter(const char *path, const char *name)
{
	(void)path;
	(void)name;
	return 0;
}

void fib_service_leave(void)
{
}
