/* SPDX-License-Identifier: MIT */
/* one_program.h - the program that a test inspects from other places, and its pid as an argument */
#ifndef HARNESS_CLI_ONE_PROGRAM_H
#define HARNESS_CLI_ONE_PROGRAM_H

#include "tests/harness/cli/place.h"

static struct harness_process *program;
static const char *pid;

/* A teardown; also valid if the test started no program. */
static inline int end(void **state)
{
	(void)state;
	harness_free(program);
	program = NULL;
	return 0;
}

static inline void start(const struct place *place, const char *fixture, const char *argument)
{
	program = place_start(place, "ready ", fixture, argument);
	pid = cli_number((uint64_t)program->pid);
}

#endif
