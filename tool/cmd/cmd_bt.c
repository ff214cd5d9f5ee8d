/* SPDX-License-Identifier: MIT */
/*
 * cmd_bt.c - backtraces of one fiber or of all: a header line for grep, then the frames
 *
 * Fibers are printed as they are read and nothing is kept, so memory use does not depend on their
 * number. Output starts with the first fiber, so an earlier error leaves standard output empty.
 */
#include <errno.h>
#include <string.h>

#include "inspect/render/render.h"
#include "inspect/symbols/limit.h"
#include "inspect/unwind/thread_stack_walk.h"
#include "tool/cmd/commands.h"
#include "tool/details.h"
#include "tool/query.h"
#include "tool/report.h"

struct bt {
	const struct tool_arguments *arguments;
	struct ins_query query;
	struct ins_request request;
	unsigned frames; /* of a backtrace; 0: all */
	struct tool_details details;
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_json json;
	bool begun;
	struct ins_walk walk;
};

static void begin(struct bt *b)
{
	const struct ins_source *s = b->source;

	if (!b->begun && b->arguments->json)
		ins_json_begin(&b->json, stdout, s->pid, s->name, s->kind, "fibers");
	b->begun = true;
}

static int take(void *context, const struct ins_fiber *fiber)
{
	struct bt *b = context;
	const struct fib_layout *layout = &b->source->layout;
	struct ins_variables *variables = NULL;

	if (!ins_query_match(&b->query, b->source, b->symbols, fiber))
		return 0;
	ins_progress_give_way(&b->source->progress, !b->arguments->json);
	begin(b);
	ins_walk_row(b->unwinder, fiber, &b->walk);
	ins_walk_limit(&b->walk, b->symbols, b->frames);
	if (tool_details_find(&b->details, b->source, b->symbols, fiber, &b->walk, &variables) < 0)
		return -ENOMEM;
	if (b->arguments->json) {
		ins_json_row(&b->json,
			     ins_json_variables(ins_json_fiber(layout, fiber, b->symbols, &b->walk),
						variables, b->details.wanted));
	} else {
		ins_text_header(stdout, layout, fiber);
		tool_details_frames(&b->details, b->symbols, &b->walk, variables);
		putchar('\n');
	}
	ins_variables_free(variables);
	return 0;
}

static int finish(struct bt *b, struct ins_summary *summary)
{
	const struct ins_problems *problems = &b->source->problems;

	summary->shown -= b->query.others;
	begin(b);
	if (b->arguments->json)
		ins_json_end(&b->json, summary, problems);
	else
		ins_text_end(stdout, summary, problems);
	if (ins_problems_lines(problems) || b->json.failed)
		return tool_written(TOOL_PARTIAL);
	return tool_written(TOOL_WELL);
}

static int answer(struct bt *b)
{
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc = ins_unwinder_new(b->source, &b->unwinder);

	if (rc == 0)
		ins_unwinder_hide(b->unwinder, !b->arguments->option[TOOL_OPT_ALL_FRAMES]);
	if (rc == 0)
		rc = ins_symbols_new(b->source->modules, &b->symbols);
	if (rc == 0)
		rc = tool_details_begin(&b->details, b->source->modules);
	if (rc == 0)
		rc = ins_source_read(b->source, &b->request, take, b, &summary, &error);
	if (rc == 0)
		return finish(b, &summary);
	return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
}

static int parse(struct bt *b)
{
	const struct tool_arguments *a = b->arguments;
	const bool all = a->option[TOOL_OPT_ALL] != NULL;
	char who[1024];
	int code;

	if (all == (a->words == 2))
		return tool_wrong(&tool_bt, "bt: needs %s",
				  all ? "either an id or --all" : "an id, or --all");
	if (!all && a->option[TOOL_OPT_WHERE])
		return tool_wrong(&tool_bt, "bt: --where needs --all");
	if (!tool_option_frames(a, &b->frames))
		return TOOL_USAGE;
	if (!all && !tool_parse_id(a->word[1], &b->request.id))
		return tool_wrong(&tool_bt, "%s: is not a fiber id: see '%s list %s'", a->word[1],
				  tool->name, tool_options_who(a, who, sizeof who));
	if (!tool_details_parse(a, &b->details))
		return TOOL_USAGE;
	code = tool_query(&tool_bt, a, INS_QUERY_ALL, &b->query);
	b->request.stacks = true;
	b->request.high_water = b->request.labels = a->json;
	ins_query_wants(&b->query, &b->request);
	return code;
}

static int run(const struct tool_arguments *arguments)
{
	struct bt b = {.arguments = arguments};
	int code = parse(&b);

	if (code == TOOL_WELL)
		code = tool->open(arguments, arguments->word[0], &b.source);
	if (code == TOOL_WELL) {
		code = answer(&b);
		tool_details_end(&b.details);
		ins_symbols_free(b.symbols);
		ins_unwinder_free(b.unwinder);
		ins_source_close(b.source);
	}
	ins_query_drop(&b.query);
	return code;
}

const struct tool_command tool_bt = {
	.name = "bt",
	.usage = "PROCESS ID | PROCESS --all",
	.summary = "the backtrace of one fiber, or of all",
	.help = "The program sends the bytes of the stack; this tool unwinds it and looks up\n"
		"functions, files and lines, so debug information is only needed here. A fiber\n"
		"that computes has no stable stack and is shown as running; one that is in a\n"
		"system call has. 'fibertrace' stops the thread of a fiber that computes for the\n"
		"time of a copy, and shows its frames too.\n",
	.example = "bt httpd 3\n"
		   "fiber 3 \"conn-1\" [suspended: sleep 38.4s left, 1.5s]\n"
		   "  #6  fiber_sleep+0x13b at libfiber/wait/park.c:113\n"
		   "  #7  serve_hold (inlined) at fixtures/httpd.c:157\n"
		   "  #8  serve+0x1b1 at fixtures/httpd.c:263\n"
		   "...\n",
	.least = 1,
	.most = 2,
	.threads = true,
	.options = TOOL_TAKES(TOOL_OPT_ALL) | TOOL_TAKES(TOOL_OPT_ALL_FRAMES) |
		   TOOL_TAKES(TOOL_OPT_FRAMES) | TOOL_TAKES(TOOL_OPT_MODULE) |
		   TOOL_TAKES(TOOL_OPT_WHERE) | TOOL_TAKES_DETAILS,
	.run = run,
};
