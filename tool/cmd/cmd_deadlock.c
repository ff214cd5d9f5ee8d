/* SPDX-License-Identifier: MIT */
/* cmd_deadlock.c - fibers that will never go on, and their stacks. */
#include <string.h>

#include "tool/cmd/commands.h"
#include "tool/report.h"
#include "inspect/render/stuck.h"

static int run(const struct tool_arguments *arguments)
{
	struct ins_stuck stuck = {.json = arguments->json, .out = stdout};
	struct ins_error error = {""};
	size_t found = 0;
	int code, rc;

	if (!tool_option_frames(arguments, &stuck.frames))
		return TOOL_USAGE;
	code = tool->open(arguments, arguments->word[0], &stuck.source);
	if (code != TOOL_WELL)
		return code;
	stuck.pid = stuck.source->modules->pid;
	stuck.still = strcmp(stuck.source->kind, "snapshot") == 0 ||
		      strcmp(stuck.source->kind, "core") == 0;
	rc = ins_stuck_answer(&stuck, &found, &error);
	if (rc < 0)
		code = tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	else if (found)
		code = tool_written(TOOL_FOUND);
	else
		code = tool_written(ins_problems_lines(&stuck.source->problems) ? TOOL_PARTIAL
										: TOOL_WELL);
	ins_source_close(stuck.source);
	return code;
}

const struct tool_command tool_deadlock = {
	.name = "deadlock",
	.usage = "PROCESS",
	.summary = "fibers that will never go on",
	.help = "Looks for fibers that wait for each other in a cycle, for what they hold\n"
		"themselves, or for a lock whose holder has ended, and for joins on an ancestor\n"
		"none of whose descendants can go on. What is found is looked for again, and only\n"
		"reported when no fiber of it has run in between; then their stacks are printed.\n"
		"A snapshot and a core are read once only; what a snapshot shows may have passed\n"
		"since.\n"
		"\n"
		"Reported too, but no deadlock that will last for certain:\n"
		"  timed    a cycle in which a wait has a deadline\n"
		"  suspect  a join on an ancestor that may still go on\n"
		"  thread   a lock that is held by a thread which is no fiber: what that waits\n"
		"           for is not known here, but its frames show where it sleeps\n"
		"\n"
		"Who ends a wait for readers of a lock, a semaphore, a channel, a condition, an\n"
		"event, a barrier, a group or in fiber_park is not known. Such waits without a\n"
		"deadline are counted in the end, by kind: 'not followed: 2 read locks'. They may\n"
		"be part of a deadlock that is not seen. Waits for time, for descriptors and for\n"
		"the system are not counted: these end from outside.\n"
		"\n"
		"Exit status: 3 when there is a deadlock, 0 when there is none.\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_FRAMES),
	.run = run,
};
