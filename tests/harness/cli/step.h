/* SPDX-License-Identifier: MIT */
/* step.h - record one step of the fixture drift, whose events are known */
#ifndef HARNESS_CLI_STEP_H
#define HARNESS_CLI_STEP_H

#include "tests/harness/cli/cli.h"

/*
 * Record one step into step.rec in the test's folder; file gets its path, in HARNESS_PATH bytes.
 * Returns the recording process, which has exited with success. *ret_drift is the process drift,
 * which still runs.
 */
struct harness_process *step_record(char *file, struct harness_process **ret_drift);

/* step_record(), then end the drift. */
void step_file(char *file);

#endif
