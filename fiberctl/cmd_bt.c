/* SPDX-License-Identifier: MIT */
/* cmd_bt.c - where a fiber is: a header line to grep for, then its calls, innermost first. */
#include "fiberctl/answer.h"

static void put(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber,
		struct ins_symbols *symbols, const struct ins_walk *walk)
{
	ins_text_header(out, layout, fiber);
	ins_text_frames(out, symbols, walk);
	fputc('\n', out);
}

static int run(const struct ctl_arguments *arguments)
{
	struct ctl_question question = {
		.process = arguments->word[0],
		.json = arguments->json,
		.walks = true,
		.text = put,
	};

	const bool all = arguments->option[CTL_OPT_ALL] != NULL;

	if (all == (arguments->words == 2))
		return ctl_wrong(&ctl_bt, "bt: needs %s",
				 all ? "either an id or --all" : "an id, or --all");
	if (!all && !ctl_parse_id(arguments->word[1], &question.id))
		return ctl_wrong(&ctl_bt, "%s: is no fiber id: see 'fiberctl list %s'",
				 arguments->word[1], arguments->word[0]);
	return ctl_answer(&question);
}

const struct ctl_command ctl_bt = {
	.name = "bt",
	.usage = "PROCESS ID | PROCESS --all",
	.summary = "the backtrace of one fiber, or of all",
	.help = "The program hands over the bytes of the stack; this tool walks it and looks up\n"
		"functions, files and lines, so debug information is only needed here. A fiber\n"
		"that runs has no stack that holds still and is reported as running.\n",
	.least = 1,
	.most = 2,
	.options = CTL_TAKES(CTL_OPT_ALL),
	.run = run,
};
