/* SPDX-License-Identifier: MIT */
/* cmd_deadlock.c - find fibers that will never run again, and print their stacks */
#include <string.h>

#include "tool/cmd/commands.h"
#include "inspect/render/stuck.h"
#include "tool/report.h"

/* A file does not change, so one reading is enough. */
static bool is_still(const struct ins_source *source)
{
	return strcmp(source->kind, "snapshot") == 0 || strcmp(source->kind, "core") == 0;
}

static int answer(const struct ins_stuck *stuck)
{
	struct ins_error error = {""};
	struct ins_confirmed confirmed;
	size_t lasting = 0;
	int rc = ins_confirm_deadlocks(stuck->source, stuck->pid, is_still(stuck->source),
				       &confirmed, &error);

	if (rc == 0) {
		lasting = ins_deadlocks_lasting(confirmed.found);
		rc = ins_stuck_print(stuck, &confirmed, &error);
	}
	ins_confirmed_free(&confirmed);
	if (rc < 0)
		return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	if (lasting)
		return tool_written(TOOL_FOUND);
	return tool_written(ins_problems_lines(&stuck->source->problems) ? TOOL_PARTIAL
									 : TOOL_WELL);
}

static int run(const struct tool_arguments *arguments)
{
	struct ins_stuck stuck = {.json = arguments->json, .out = stdout};
	int code;

	if (!tool_option_frames(arguments, &stuck.frames))
		return TOOL_USAGE;
	code = tool->open(arguments, arguments->word[0], &stuck.source);
	if (code != TOOL_WELL)
		return code;
	stuck.pid = stuck.source->modules->pid;
	code = answer(&stuck);
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
