/* SPDX-License-Identifier: MIT */
/* cored_crowd.h - one crowd for all tests of a program, and a core of it while it goes on */
#ifndef HARNESS_CLI_CORED_CROWD_H
#define HARNESS_CLI_CORED_CROWD_H

#include "tests/harness/cli/crowd.h"

static struct crowd crowd;
static char core[HARNESS_PATH];

/* The group's setup and teardown. They do nothing under a sanitizer, whose shadow would make a core
 * of terabytes. */
static inline int cored_crowd(void **state)
{
	(void)state;
	if (*harness_sanitizer())
		return 0;
	crowd = crowd_start(NULL, "crowd", "66", NULL);
	cli_core(crowd.process->pid, "core", core);
	return 0;
}

static inline int cored_crowd_end(void **state)
{
	(void)state;
	if (crowd.process)
		crowd_end(&crowd);
	return 0;
}

/* Skip the test if there is no core. */
static inline void cored_crowd_needed(void)
{
	if (!*core)
		cli_skip("no cores of sanitizer builds");
}

#endif
