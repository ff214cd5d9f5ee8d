/* SPDX-License-Identifier: MIT */
/*
 * answer.c - asking for fibers and printing them as they come
 *
 * Nothing is kept: a process with a million fibers needs no more room here than one with ten. The first fiber
 * that arrives begins the answer, so an error before it leaves standard output empty.
 */
#include "tool/answer.h"

#include <errno.h>
#include <string.h>

#include "tool/report.h"
#include "tool/query.h"
#include "inspect/symbols/cut.h"
#include "inspect/unwind/unwind.h"

struct answer {
	const struct tool_question *question;
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_json json;
	struct ins_query query;
	bool begun;
	struct tool_details details;
	struct ins_walk walk;
};

static void begin(struct answer *a)
{
	const struct ins_source *s = a->source;

	if (a->begun)
		return;
	a->begun = true;
	if (a->question->arguments->json)
		ins_json_begin(&a->json, stdout, s->pid, s->name, s->kind, "fibers");
	else if (a->question->title)
		puts(a->question->title);
}

static int take(void *context, const struct ins_fiber *fiber)
{
	struct answer *a = context;
	const struct ins_walk *walk = NULL;
	struct ins_variables *variables = NULL;

	if (!ins_query_match(&a->query, a->source, a->symbols, fiber))
		return 0;
	ins_progress_give_way(&a->source->progress, !a->question->arguments->json);
	begin(a);
	if (a->unwinder) {
		ins_unwind(a->unwinder, fiber, &a->walk);
		ins_walk_cut(&a->walk, a->symbols, a->question->frames);
		walk = &a->walk;
		if (tool_details_find(&a->details, a->source, a->symbols, fiber, walk, &variables) <
		    0)
			return -ENOMEM;
	}
	if (a->question->arguments->json) {
		ins_json_row(&a->json, ins_json_variables(ins_json_fiber(&a->source->layout, fiber,
									 a->symbols, walk),
							  variables, a->details.wanted));
	} else {
		a->question->text(stdout, &a->source->layout, fiber, a->symbols, walk);
		if (a->question->details) {
			tool_details_frames(&a->details, a->symbols, walk, variables);
			putchar('\n');
		}
	}
	ins_variables_free(variables);
	return 0;
}

static int finish(struct answer *a, struct ins_summary *summary)
{
	int code = TOOL_WELL;

	summary->shown -= a->query.others;

	begin(a);
	if (a->question->arguments->json)
		ins_json_end(&a->json, summary, &a->source->problems);
	else
		ins_text_end(stdout, summary, &a->source->problems);
	if (ins_problems_lines(&a->source->problems) || a->json.failed)
		code = TOOL_PARTIAL;
	return tool_written(code);
}

static int ask(struct answer *a, struct ins_request *request)
{
	const struct tool_question *q = a->question;
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc = 0;

	if (q->walks)
		rc = ins_unwinder_new(a->source, &a->unwinder);
	if (rc == 0 && (q->symbols || q->walks))
		rc = ins_symbols_new(a->source->modules, &a->symbols);
	if (rc == 0)
		rc = tool_details_begin(&a->details, a->source->modules);
	if (rc == 0)
		rc = ins_source_read(a->source, request, take, a, &summary, &error);
	if (rc == 0)
		return finish(a, &summary);
	return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
}

int tool_answer(const struct tool_question *question)
{
	const struct tool_arguments *arguments = question->arguments;
	struct answer a = {.question = question};
	struct ins_request request = {
		.id = question->id,
		.stacks = question->walks,
		.high_water = arguments->json,
		.labels = arguments->json,
		.modules = question->symbols,
	};
	int code = TOOL_WELL;

	if (question->details && !tool_details_parse(arguments, &a.details))
		return TOOL_USAGE;
	if (question->where)
		code = tool_query(question->where, arguments, INS_QUERY_ALL, &a.query);
	ins_query_wants(&a.query, &request);
	if (code == TOOL_WELL)
		code = tool->open(arguments, arguments->word[0], &a.source);
	if (code == TOOL_WELL) {
		code = ask(&a, &request);
		tool_details_end(&a.details);
		ins_symbols_free(a.symbols);
		ins_unwinder_free(a.unwinder);
		ins_source_close(a.source);
	}
	ins_query_drop(&a.query);
	return code;
}
