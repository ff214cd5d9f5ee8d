/* SPDX-License-Identifier: MIT */
/*
 * dump.c - walk and print every fiber of a source
 *
 * With groups, fibers are walked as they are read and only their places are kept; otherwise each
 * fiber is printed as it is read. Names and lines are looked up once per address, if possible after
 * the target was read, so that a live process is disturbed briefly.
 */
#include "fibertrace/fibertrace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tool/report.h"
#include "tool/query.h"
#include "inspect/symbols/limit.h"
#include "inspect/render/render_crash.h"
#include "inspect/query/group.h"
#include "inspect/render/render.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/threads/threads.h"
#include "inspect/unwind/thread_stack_walk.h"
#include "inspect/text/escape.h"
#include "tool/details.h"

struct trace {
	struct ins_source *source;
	const struct tool_arguments *arguments;
	bool each; /* print every fiber, without groups */
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_groups *groups;
	struct ins_json json;
	struct ins_query query;
	unsigned frames; /* frames of a stack; 0: all */
	bool begun;	 /* stdout has output */
	struct tool_details details;
	struct ins_walk walk;
};

static void begin(struct trace *t)
{
	const struct ins_source *s = t->source;

	if (t->begun)
		return;
	t->begun = true;
	if (t->arguments->json) {
		ins_json_begin(&t->json, stdout, s->pid, s->name, s->kind,
			       t->each ? "fibers" : "groups");
	} else {
		char name[sizeof s->name * 4], crash[320];

		printf("%s (%s, process %d)\n", ins_escape_quoted(s->name, name, sizeof name),
		       s->kind, (int)s->pid);
		/*
		 * The program's clock stops while all its threads sleep, and a core has no other
		 * clock.
		 */
		if (strcmp(s->kind, "core") == 0 && !ins_threads_shown(s))
			puts("times are those of when anything last ran");
		if (s->crash)
			puts(ins_crash_text(s->crash, crash, sizeof crash));
		putchar('\n');
	}
}

static int take_fiber(void *context, const struct ins_fiber *fiber)
{
	struct trace *t = context;
	struct ins_variables *variables;

	if (!ins_query_match(&t->query, t->source, t->symbols, fiber))
		return 0;
	ins_walk_row(t->unwinder, fiber, &t->walk);
	ins_walk_limit(&t->walk, t->symbols, t->frames);
	if (t->groups) {
		if (ins_groups_add(t->groups, NULL, fiber, &t->walk) < 0)
			return -ENOMEM;
		return tool_details_group(&t->details, t->source, t->symbols, t->groups, fiber,
					  &t->walk);
	}
	ins_progress_give_way(&t->source->progress, !t->arguments->json);
	begin(t);
	if (tool_details_find(&t->details, t->source, t->symbols, fiber, &t->walk, &variables) < 0)
		return -ENOMEM;
	if (t->arguments->json) {
		ins_json_row(&t->json, ins_json_variables(ins_json_fiber(&t->source->layout, fiber,
									 t->symbols, &t->walk),
							  variables, t->details.wanted));
	} else {
		ins_text_header(stdout, &t->source->layout, fiber);
		tool_details_frames(&t->details, t->symbols, &t->walk, variables);
		putchar('\n');
	}
	ins_variables_free(variables);
	return 0;
}

static void print_groups(struct trace *t)
{
	size_t i;

	ins_groups_sort(t->groups);
	for (i = 0; i < ins_groups_count(t->groups); i++) {
		const struct ins_group *g = ins_groups_at(t->groups, i);

		if (t->arguments->json) {
			ins_json_row(&t->json, ins_json_variables(ins_json_group(&t->source->layout,
										 g, t->symbols),
								  g->variables, t->details.wanted));
			continue;
		}
		ins_text_group(stdout, &t->source->layout, g);
		tool_details_group_frames(&t->details, t->symbols, g);
		putchar('\n');
	}
}

static int finish(struct trace *t, struct ins_summary *summary)
{
	int rc = 0;

	summary->shown -= t->query.others;
	begin(t);
	if (t->groups)
		print_groups(t);
	if (t->arguments->json && strcmp(t->source->kind, "core") == 0)
		ins_json_key(&t->json, "crash", ins_crash_json(t->source->crash));
	if (t->arguments->json)
		rc = ins_json_end(&t->json, summary, &t->source->problems);
	else
		ins_text_end(stdout, summary, &t->source->problems);
	/* Write errors are reported below. */
	if (rc < 0 && rc != -EIO)
		return tool_cannot("%s", strerror(-rc));
	return tool_written(ins_problems_lines(&t->source->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static int read_source(struct trace *t, const struct ins_request *request)
{
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc;

	rc = ins_source_read(t->source, request, take_fiber, t, &summary, &error);
	if (rc == 0)
		return finish(t, &summary);
	return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
}

static int run(const struct tool_arguments *arguments)
{
	struct trace t = {.arguments = arguments, .each = arguments->option[TOOL_OPT_EACH] != NULL};
	struct ins_request request = {
		.stacks = true,
		.high_water = t.each && arguments->json,
	};
	struct tool_arguments plain = *arguments;
	int code;

	if (arguments->words == 2) {
		if (!arguments->option[TOOL_OPT_CORE])
			return tool_wrong(NULL, "%s: one process at a time", arguments->word[1]);
		plain.option[TOOL_OPT_EXE] = arguments->word[1];
	}
	if (!tool_option_frames(arguments, &t.frames) || !tool_details_parse(arguments, &t.details))
		return TOOL_USAGE;
	code = tool_query(NULL, arguments, INS_QUERY_ALL, &t.query);
	ins_query_wants(&t.query, &request);
	if (code == TOOL_WELL)
		code = tool->open(&plain, plain.word[0], &t.source);
	if (code != TOOL_WELL) {
		ins_query_drop(&t.query);
		return code;
	}
	if (ins_unwinder_new(t.source, &t.unwinder) < 0 ||
	    ins_symbols_new(t.source->modules, &t.symbols) < 0 ||
	    (!t.each && ins_groups_new(&t.groups) < 0) ||
	    tool_details_begin(&t.details, t.source->modules) < 0)
		code = tool_cannot("out of memory");
	if (code == TOOL_WELL) {
		ins_unwinder_hide(t.unwinder, !arguments->option[TOOL_OPT_ALL_FRAMES]);
		code = read_source(&t, &request);
	}
	tool_details_end(&t.details);
	ins_groups_free(t.groups);
	ins_symbols_free(t.symbols);
	ins_unwinder_free(t.unwinder);
	ins_source_close(t.source);
	ins_query_drop(&t.query);
	return code;
}

const struct tool_command trace_dump = {
	.name = "",
	.usage = "a PROCESS",
	.least = 1,
	.most = 2,
	.threads = true,
	.options = TOOL_TAKES(TOOL_OPT_ALL_FRAMES) | TOOL_TAKES(TOOL_OPT_EACH) |
		   TOOL_TAKES(TOOL_OPT_FRAMES) | TOOL_TAKES(TOOL_OPT_WHERE) | TOOL_TAKES_DETAILS,
	.run = run,
};
