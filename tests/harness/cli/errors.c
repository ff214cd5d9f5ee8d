/* SPDX-License-Identifier: MIT */
/* errors.c - check every tool's answer to wrong arguments and to --help */
#include "tests/harness/cli/errors.h"

void errors_of_usage(const char *tool, const char *const lines[][ERRORS_WORDS], size_t n)
{
	for (size_t i = 0; i < n; i++)
		cli_expect_error(
			cli_run(tool, lines[i][0], lines[i][1], lines[i][2], lines[i][3], NULL), 64,
			tool, "");
}

void errors_help(const char *tool, const char *what)
{
	struct harness_process *p = cli_run(tool, "--help", NULL);

	cli_expect(p, 0);
	cli_contains(p->out.bytes, what);
	harness_free(p);
}
