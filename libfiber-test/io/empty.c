/* SPDX-License-Identifier: MIT */
/*
 * empty.c - always try to read first; in place of libfiber/io/empty.c
 *
 * A schedule must not depend on how often earlier schedules of the process have read in vain.
 */
#include "io/empty.h"

void fib_empty_found(int fd, const struct fib_look *look)
{
	(void)fd;
	(void)look;
}

void fib_empty_not(int fd, const struct fib_look *look)
{
	(void)fd;
	(void)look;
}

int fib_empty_await(int fd, const struct fib_look *look, int64_t deadline)
{
	(void)fd;
	(void)look;
	(void)deadline;
	return 0;
}
