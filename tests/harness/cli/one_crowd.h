/* SPDX-License-Identifier: MIT */
/* one_crowd.h - one fixture for all tests of a program, and its pid as an argument */
#ifndef HARNESS_CLI_ONE_CROWD_H
#define HARNESS_CLI_ONE_CROWD_H

#include <stdio.h>

#include "tests/harness/cli/crowd.h"

static struct crowd crowd;
static char pid[16];

/* Group setups: one_crowd_of() takes a started crowd, one_crowd() starts one. Return 0. */
static inline int one_crowd_of(struct crowd started)
{
	crowd = started;
	snprintf(pid, sizeof(pid), "%d", crowd.process->pid);
	return 0;
}

static inline int one_crowd(const char *program, const char *first, const char *second)
{
	return one_crowd_of(crowd_start(NULL, program, first, second));
}

/* The group's teardown. */
static inline int one_crowd_end(void **state)
{
	(void)state;
	crowd_end(&crowd);
	return 0;
}

#endif
