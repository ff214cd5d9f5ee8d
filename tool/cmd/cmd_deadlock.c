/* SPDX-License-Identifier: MIT */
/* cmd_deadlock.c - find fibers that will never run again, and print their stacks */
#include <string.h>

#include "tool/cmd/commands.h"
#include "inspect/render/stuck.h"
#include "tool/report.h"

static int answer(const struct ins_stuck *stuck)
{
	struct ins_error error = {""};
	struct ins_confirmed confirmed;
	size_t lasting = 0;
	int rc = ins_confirm_deadlocks(stuck->source, stuck->pid, ins_source_still(stuck->source),
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
	struct ins_stuck stuck = {
		.json = arguments->json,
		.out = stdout,
		.hide = !arguments->option[TOOL_OPT_ALL_FRAMES],
	};
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
	.summary = "fibers that can never continue",
	.help = "Finds fibers that wait for each other in a cycle, for a lock that they hold\n"
		"themselves, or for a lock whose holder has exited, and joins on an ancestor none\n"
		"of whose descendants can continue. If all fibers wait, and no timer, descriptor\n"
		"or other thread is left that could wake one, that is a deadlock too, whatever\n"
		"they wait for; with other threads, a line says how many there are. A finding is\n"
		"reported only if a second reading shows it too and none of its fibers has run in\n"
		"between; then the stacks are printed. A snapshot or a core is read only once; in\n"
		"a snapshot only waits that are longer than the reading took are a deadlock.\n"
		"\n"
		"The following may resolve. They are reported, but do not count as a deadlock:\n"
		"  timed    a cycle that depends on waits with a deadline\n"
		"  suspect  a join on an ancestor that may still continue\n"
		"  thread   a lock held by a thread that is not a fiber: its frames show where it\n"
		"           sleeps. What it waits for is followed by fibertrace, not by fiberctl\n"
		"\n"
		"It is not known which fiber ends a wait for a semaphore, a channel, a condition,\n"
		"an event, a barrier, a group or in fiber_park. Such waits without a deadline are\n"
		"counted at the end, by kind: 'not followed: 2 semaphores'. They may be part of a\n"
		"deadlock that is not found. Waits for time, for descriptors and for the kernel\n"
		"are not counted: they end from outside.\n"
		"\n"
		"Exit status: 3 if there is a deadlock, 0 if there is none.\n",
	.example = "deadlock kv\n"
		   "deadlock: 2 fibers wait for each other in a cycle\n"
		   "fiber 1 \"crossing-0\" [suspended: mutex \"lock-1\" held by 2, 20.5s]\n"
		   "  #5  fiber_mutex_lock+0x7e at libfiber/sync/mutex.c:126\n"
		   "...\n"
		   "fiber 2 \"crossing-1\" [suspended: mutex \"lock-0\" held by 1, 20.5s]\n"
		   "...\n",
	.least = 1,
	.most = 1,
	.threads = true,
	.options = TOOL_TAKES(TOOL_OPT_ALL_FRAMES) | TOOL_TAKES(TOOL_OPT_FRAMES) |
		   TOOL_TAKES(TOOL_OPT_MODULE),
	.run = run,
};
