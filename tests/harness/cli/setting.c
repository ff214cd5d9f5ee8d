/* SPDX-License-Identifier: MIT */
/* setting.c - shared checks for commands that read or change a setting */
#include <string.h>

#include "tests/harness/cli/setting.h"

json_t *setting_ask(const char *command, pid_t pid, const char *change, const char *keys)
{
	const char *const who = cli_number((uint64_t)pid);
	struct harness_process *p =
		change ? cli_run("fiberctl", command, who, change, "--json", NULL)
		       : cli_run("fiberctl", command, who, "--json", NULL);
	json_t *answer, *setting;

	answer = json_well(p);
	json_promise(answer, "answer", JSON_ANSWER);
	setting = json_incref(json_object_get(answer, command));
	assert_true(json_is_object(setting));
	json_promise(setting, command, keys);
	assert_string_equal(json_text(answer, "source"), "control");
	assert_int_equal(json_int(answer, "pid"), pid);
	json_decref(answer);
	return setting;
}

void setting_says(const char *command, pid_t pid, const char *change, const char *text)
{
	struct harness_process *p =
		cli_run("fiberctl", command, cli_number((uint64_t)pid), change, NULL);

	cli_expect(p, 0);
	cli_contains(p->out.bytes, text);
	assert_ptr_equal(strstr(p->out.bytes, text), p->out.bytes);
	harness_free(p);
}

void setting_refused_read_only(const char *command, const char *change, const char *text,
			       struct harness_process *(*start)(const struct harness_how *how))
{
	static const char *const env[] = {"FIBER_CONTROL=ro", NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *other = start(&how);

	cli_expect_error(
		cli_run("fiberctl", command, cli_number((uint64_t)other->pid), change, NULL), 2,
		"fiberctl", "FIBER_CONTROL=rw");
	setting_says(command, other->pid, NULL, text);
	harness_free(other);
}
