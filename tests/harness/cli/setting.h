/* SPDX-License-Identifier: MIT */
/* setting.h - shared checks for commands that read or change a setting */
#ifndef HARNESS_CLI_SETTING_H
#define HARNESS_CLI_SETTING_H

#include "tests/harness/cli/json.h"

/* Run `fiberctl COMMAND PID [CHANGE] --json`; change NULL: only read. Returns the object under the
 * command's name in the answer, after checking its keys with json_promise(). The caller calls
 * json_decref(). */
json_t *setting_ask(const char *command, pid_t pid, const char *change, const char *keys);

/* Run the command as text; assert that the output begins with this text. */
void setting_says(const char *command, pid_t pid, const char *change, const char *text);

/* Start a fixture whose control socket is read-only. Assert that this change is refused with its
 * remedy, while reading works and begins with text. */
void setting_refused_read_only(const char *command, const char *change, const char *text,
			       struct harness_process *(*start)(const struct harness_how *how));

#endif
