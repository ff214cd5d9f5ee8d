/* SPDX-License-Identifier: MIT */
/* errors.h - check every tool's answer to wrong arguments and to --help */
#ifndef HARNESS_CLI_ERRORS_H
#define HARNESS_CLI_ERRORS_H

#include "tests/harness/cli/cli.h"

#define ERRORS_WORDS 4 /* words in a command line, at most */

/* Assert that a tool refuses each of n command lines: exit code 64 and a message of the tool
 * itself. */
void errors_of_usage(const char *tool, const char *const lines[][ERRORS_WORDS], size_t n);

/* Assert that `TOOL --help` exits with 0 and prints `what`. */
void errors_help(const char *tool, const char *what);

#endif
