/* SPDX-License-Identifier: MIT */
/* sleeper.c - parse "running", "-1 SP PC", or a system call's number, its six arguments, SP and
 * PC */
#include "layout/sleeper.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Read the hexadecimal word at *at and advance *at behind it. */
static bool take_word(const char **at, uint64_t *ret)
{
	char *end;

	if (strncmp(*at, " 0x", 3) != 0)
		return false;
	*ret = strtoull(*at, &end, 16);
	*at = end;
	return true;
}

int fib_sleeper_parse(const char *text, struct fib_sleeper_place *ret)
{
	struct fib_sleeper_place sleeper = {0};
	const char *at;
	char *end;
	int i;

	if (strcmp(text, "running\n") == 0)
		return 0;
	sleeper.call = strtoll(text, &end, 10);
	if (end == text || sleeper.call < -1)
		return -EPROTO;
	at = end;
	for (i = 0; sleeper.call >= 0 && i < FIB_SLEEPER_ARGUMENTS; i++)
		if (!take_word(&at, &sleeper.argument[i]))
			return -EPROTO;
	if (!take_word(&at, &sleeper.sp) || !take_word(&at, &sleeper.pc) || strcmp(at, "\n") != 0 ||
	    !sleeper.sp || !sleeper.pc)
		return -EPROTO;
	*ret = sleeper;
	return 1;
}
