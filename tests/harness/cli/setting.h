/* SPDX-License-Identifier: MIT */
/* setting.h - the tests of commands that read or change a setting. */
#ifndef HARNESS_CLI_SETTING_H
#define HARNESS_CLI_SETTING_H

#include "tests/harness/cli/json.h"

/* Run `fiberctl COMMAND PID [CHANGE] --json`, change NULL: only read. What its answer has under the command's name, which has the
 * keys of a list as json_promise() takes it. The caller's to json_decref(). */
json_t *setting_ask(const char *command, pid_t pid, const char *change, const char *keys);

/* The same as text; asserts that it begins with that. */
void setting_says(const char *command, pid_t pid, const char *change, const char *text);

/* Start a fixture whose control is read-only, and assert that this change is refused with its remedy, while reading goes on and
 * begins with text. */
void setting_refused_read_only(const char *command, const char *change, const char *text,
			       struct harness_process *(*start)(const struct harness_how *how));

#endif
