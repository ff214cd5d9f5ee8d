/* SPDX-License-Identifier: MIT */
/* errors.h - what every tool answers to words that make no sense, and to --help. */
#ifndef HARNESS_CLI_ERRORS_H
#define HARNESS_CLI_ERRORS_H

#include "tests/harness/cli/cli.h"

#define ERRORS_WORDS 4 /* of a command line, at most */

/* Assert that a tool refuses each of n command lines: exit code 64 and a message of its own. */
void errors_of_usage(const char *tool, const char *const lines[][ERRORS_WORDS], size_t n);

/* Assert that `TOOL --help` ends with 0 and that its text contains what. */
void errors_help(const char *tool, const char *what);

#endif
