/* SPDX-License-Identifier: MIT */
/* step.h - a recording of one step of the fixture drift, of which it is known what happens in it. */
#ifndef HARNESS_CLI_STEP_H
#define HARNESS_CLI_STEP_H

#include "tests/harness/cli/cli.h"

/* Record it into step.rec of the test's folder; that path in file, of HARNESS_PATH. The process that recorded, which has ended well;
 * in *ret_drift the drift, which goes on. */
struct harness_process *step_record(char *file, struct harness_process **ret_drift);

/* The same, and nobody goes on. */
void step_file(char *file);

#endif
