/* SPDX-License-Identifier: MIT */
/* step.c - record one step of the fixture drift */
#include "tests/harness/cli/step.h"

#include <signal.h>

struct harness_process *step_record(char *file, struct harness_process **ret_drift)
{
	struct harness_process *drift = cli_start(NULL, "ready ", "drift", NULL), *p;
	const char *const pid = cli_number((uint64_t)drift->pid);

	p = cli_start(NULL, "recording", "fibertrace", "record", "--for", "60s", "--force", "-o",
		      harness_file(file, "step.rec"), pid, NULL);
	assert_int_equal(kill(drift->pid, SIGUSR1), 0);
	assert_non_null(harness_wait_line(drift, "step 1", CLI_SECONDS));
	assert_int_equal(kill(p->pid, SIGINT), 0);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	cli_expect(p, 0);
	*ret_drift = drift;
	return p;
}

void step_file(char *file)
{
	struct harness_process *drift;

	harness_free(step_record(file, &drift));
	harness_free(drift);
}
