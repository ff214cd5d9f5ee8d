/* SPDX-License-Identifier: MIT */
/* cmd_waits.c - print the graph of waits: each holder, what it holds, and the waiters */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/query.h"
#include "inspect/render/render_waits.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/text/escape.h"
#include "tool/cmd/commands.h"
#include "tool/report.h"

#define PLACES 10 /* holders whose place is shown, as text: each costs another reading */
#define LIMIT  50 /* holders, as text, unless another one is given */

struct asked {
	const struct tool_arguments *arguments;
	struct ins_source *source;
	struct ins_query query;
	struct ins_symbols *symbols;
	struct ins_table *table;
	struct ins_graph *graph;
	struct ins_queues *queues;
	bool *meant; /* for each fiber of the table; NULL: all match */
	struct ins_waits waits;
	size_t places; /* asked for */
};

static int take_place(void *context, const struct ins_fiber *fiber)
{
	struct ins_fiber *ret = context;

	ret->place = fiber->place;
	ret->row.seq = fiber->row.seq;
	return 0;
}

/*
 * "httpd.c:157 in serve_hold", or the function alone without debug information. Its stack is read
 * only now, because most fibers hold nothing. A holder that has moved on since has no place.
 */
static void say_place(void *context, const struct ins_fiber *fiber, char *buf, size_t size)
{
	const struct ins_request one = {
		.id = fiber->row.id, .record = fiber->row.record, .places = true};
	struct asked *a = context;
	struct ins_problems *problems = &a->source->problems;
	const struct ins_problems before = *problems;
	struct ins_fiber now = {.place = 0};
	struct ins_summary summary;
	struct ins_error error;
	const struct ins_frame *f;
	char clean[256];
	size_t count;
	int rc;

	if (a->places++ >= PLACES)
		return;
	*problems = (struct ins_problems){.count = 0};
	rc = ins_source_read(a->source, &one, take_place, &now, &summary, &error);
	ins_problems_free(problems);
	*problems = before;
	if (rc < 0 || !now.place || now.row.seq != fiber->row.seq ||
	    (!a->symbols && ins_symbols_new(a->source->modules, &a->symbols) < 0))
		return;
	f = ins_symbols_at(a->symbols, now.place, false, &count);
	if (f->file)
		snprintf(buf, size, "%s:%d in ", ins_escape(ins_frame_file(f), clean, sizeof clean),
			 f->line);
	if (f->function)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s",
			 ins_escape(f->function, clean, sizeof clean));
}

static int print(struct asked *a)
{
	struct ins_summary summary = *ins_table_summary(a->table);
	struct ins_source *s = a->source;
	struct ins_json json;
	int code = TOOL_WELL;

	if (a->meant)
		summary.shown = ins_queues_waiting(a->queues);
	if (a->arguments->option[TOOL_OPT_DOT]) {
		ins_dot_waits(stdout, &a->waits);
	} else if (a->arguments->json) {
		ins_json_begin(&json, stdout, s->pid, s->name, s->kind, "holders");
		ins_json_waits(&json, &a->waits);
		if (ins_json_end(&json, &summary, &s->problems) < 0)
			code = TOOL_PARTIAL;
	} else {
		ins_text_waits(stdout, &a->waits);
		ins_text_end(stdout, &summary, &s->problems);
	}
	if (ins_problems_lines(&s->problems))
		code = TOOL_PARTIAL;
	return tool_written(code);
}

/* Find the fibers whose waits are wanted. Others appear only as holders and in the counts. */
static int find_meant(struct asked *a)
{
	const size_t count = ins_table_count(a->table);
	struct ins_fiber fiber;
	size_t i;

	if (!a->query.select)
		return 0;
	a->meant = calloc(count + 1, sizeof *a->meant);
	if (!a->meant)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		ins_table_get(a->table, i, &fiber);
		a->meant[i] = ins_query_match(&a->query, a->source, a->symbols, &fiber);
	}
	return 0;
}

static int ask(struct asked *a, const struct ins_request *request)
{
	struct ins_error error = {""};
	int rc = ins_table_read(a->source, request, &error, &a->table);

	if (rc == 0 && request->modules)
		rc = ins_symbols_new(a->source->modules, &a->symbols);
	if (rc == 0)
		rc = find_meant(a);
	if (rc == 0)
		rc = ins_graph_new(a->table, &a->graph);
	if (rc == 0)
		rc = ins_queues_new(a->graph, a->meant, &a->queues);
	if (rc < 0)
		return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	a->waits.layout = &a->source->layout;
	a->waits.limit = (size_t)a->query.limit;
	a->waits.queues = a->queues;
	a->waits.place = say_place;
	a->waits.context = a;
	a->waits.pid = a->source->modules->pid;
	return print(a);
}

static int run(const struct tool_arguments *arguments)
{
	const bool text = !arguments->json && !arguments->option[TOOL_OPT_DOT];
	struct asked a = {.arguments = arguments};
	struct ins_request request = {.reads = true, .threads = true};
	uint64_t limit;
	int code;

	if (arguments->json && arguments->option[TOOL_OPT_DOT])
		return tool_wrong(&tool_waits, "waits: --dot cannot be combined with --json");
	if (!tool_option_number(arguments, TOOL_OPT_LIMIT, 0, SIZE_MAX, text ? LIMIT : SIZE_MAX,
				&limit))
		return TOOL_USAGE;
	code = tool_query(&tool_waits, arguments, limit, &a.query);
	ins_query_wants(&a.query, &request);
	if (code == TOOL_WELL)
		code = tool->open(arguments, arguments->word[0], &a.source);
	if (code == TOOL_WELL) {
		code = ask(&a, &request);
		ins_queues_free(a.queues);
		ins_graph_free(a.graph);
		ins_table_free(a.table);
		ins_symbols_free(a.symbols);
		ins_source_close(a.source);
	}
	free(a.meant);
	ins_query_drop(&a.query);
	return code;
}

const struct tool_command tool_waits = {
	.name = "waits",
	.usage = "PROCESS",
	.summary = "which fibers wait for which",
	.help = "Each fiber or thread that others wait for, with the objects that it holds, and\n"
		"for each object the number of waiters and how long they have waited. The holder\n"
		"that delays most fibers comes first; the first 10 have their place in the\n"
		"program's source. Fibers 'behind' a holder wait for fibers\n"
		"that wait for it. The readers of a rwlock are listed below it. Objects without a\n"
		"known holder, such as a semaphore, are listed as one holder. Waits for time, for\n"
		"descriptors and for the kernel are not shown.\n"
		"\n"
		"The text has 50 holders unless --limit is given; --dot and --json have all.\n"
		"--where: only the waits of fibers for which it is true, and their holders.\n"
		"--dot prints a graph: waits PROCESS --dot | dot -Tsvg > waits.svg\n",
	.example = "waits httpd\n"
		   "2 fibers wait for fiber 3 \"conn-1\" [suspended: sleep 38.4s left, 1.5s]\n"
		   "         at httpd.c:157 in serve_hold\n"
		   "       2 for mutex \"stats\"@0x56130dd85d78, 1.5s: 4, 5\n"
		   "shown 1 of 1 holder; 2 of 5 fibers wait for others\n"
		   "shown 5 of 5 fibers, sampled over 32us\n",
	.least = 1,
	.most = 1,
	.threads = true,
	.options = TOOL_TAKES(TOOL_OPT_DOT) | TOOL_TAKES(TOOL_OPT_LIMIT) |
		   TOOL_TAKES(TOOL_OPT_MODULE) | TOOL_TAKES(TOOL_OPT_WHERE),
	.run = run,
};
