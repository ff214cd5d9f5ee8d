/* SPDX-License-Identifier: MIT */
/* one_computer.h - one program that computes for all tests of profiles, and a file for a profile */
#ifndef HARNESS_CLI_ONE_COMPUTER_H
#define HARNESS_CLI_ONE_COMPUTER_H

#include "tests/harness/cli/cli.h"

static struct harness_process *computer;
static char file[HARNESS_PATH];

/* The group's setup and teardown. */
static inline int one_computer(void **state)
{
	(void)state;
	computer = cli_start(NULL, "ready", "compute", NULL);
	harness_file(file, "x.pb.gz");
	return 0;
}

static inline int one_computer_end(void **state)
{
	(void)state;
	harness_free(computer);
	return 0;
}

#endif
