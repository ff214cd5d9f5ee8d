/* SPDX-License-Identifier: MIT */
/* cmd_bt.c - where a fiber is: a header line to grep for, then its calls, innermost first. */
#include "tool/answer.h"
#include "tool/cmd/commands.h"
#include "tool/report.h"

static void put(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber,
		struct ins_symbols *symbols, const struct ins_walk *walk)
{
	(void)symbols;
	(void)walk;
	ins_text_header(out, layout, fiber);
}

static int run(const struct tool_arguments *arguments)
{
	struct tool_question question = {
		.arguments = arguments,
		.walks = true,
		.where = &tool_bt,
		.details = true,
		.text = put,
	};

	const bool all = arguments->option[TOOL_OPT_ALL] != NULL;

	if (all == (arguments->words == 2))
		return tool_wrong(&tool_bt, "bt: needs %s",
				  all ? "either an id or --all" : "an id, or --all");
	if (!all && arguments->option[TOOL_OPT_WHERE])
		return tool_wrong(&tool_bt, "bt: --where goes with --all");
	if (!tool_option_frames(arguments, &question.frames))
		return TOOL_USAGE;
	if (!all && !tool_parse_id(arguments->word[1], &question.id))
		return tool_wrong(&tool_bt, "%s: is no fiber id: see '%s list %s'",
				  arguments->word[1], tool->name, arguments->word[0]);
	return tool_answer(&question);
}

const struct tool_command tool_bt = {
	.name = "bt",
	.usage = "PROCESS ID | PROCESS --all",
	.summary = "the backtrace of one fiber, or of all",
	.help = "The program hands over the bytes of the stack; this tool walks it and looks up\n"
		"functions, files and lines, so debug information is only needed here. A fiber\n"
		"that runs has no stack that holds still and is reported as running; 'fibertrace'\n"
		"stops who runs it for the time of a copy, and has its frames too.\n",
	.least = 1,
	.most = 2,
	.options = TOOL_TAKES(TOOL_OPT_ALL) | TOOL_TAKES(TOOL_OPT_FRAMES) |
		   TOOL_TAKES(TOOL_OPT_WHERE) | TOOL_TAKES_DETAILS,
	.run = run,
};
