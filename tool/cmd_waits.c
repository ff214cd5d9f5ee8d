/* SPDX-License-Identifier: MIT */
/* cmd_waits.c - who waits for whom: each holder, what it holds, and who waits for that. */
#include <stdlib.h>
#include <string.h>

#include "tool/tool.h"
#include "inspect/render_waits.h"

#define LIMIT 50 /* holders, as text, unless another one is given */

static int print(const struct tool_arguments *arguments, struct ins_source *source,
		 const struct ins_waits *waits, const struct ins_summary *summary)
{
	struct ins_json json;
	int code = TOOL_WELL;

	if (arguments->option[TOOL_OPT_DOT]) {
		ins_dot_waits(stdout, waits);
	} else if (arguments->json) {
		ins_json_begin(&json, stdout, source->pid, source->name, source->kind, "holders");
		ins_json_waits(&json, waits);
		if (ins_json_end(&json, summary, &source->problems) < 0)
			code = TOOL_PARTIAL;
	} else {
		ins_text_waits(stdout, waits);
		ins_text_end(stdout, summary, &source->problems);
	}
	if (ins_problems_lines(&source->problems))
		code = TOOL_PARTIAL;
	return tool_written(code);
}

static int answer(const struct tool_arguments *arguments, struct ins_source *source, size_t limit)
{
	const struct ins_request request = {0};
	struct ins_waits waits = {.layout = &source->layout, .limit = limit};
	struct ins_error error = {""};
	struct ins_queues *queues = NULL;
	struct ins_graph *graph = NULL;
	struct ins_table *table;
	int code, rc;

	rc = ins_table_read(source, &request, &error, &table);
	if (rc < 0)
		return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	rc = ins_graph_new(table, &graph);
	if (rc == 0)
		rc = ins_queues_new(graph, &queues);
	waits.queues = queues;
	waits.pid = source->modules->pid;
	code = rc < 0 ? tool_cannot("%s", strerror(-rc))
		      : print(arguments, source, &waits, ins_table_summary(table));
	ins_queues_free(queues);
	ins_graph_free(graph);
	ins_table_free(table);
	return code;
}

static int run(const struct tool_arguments *arguments)
{
	const bool text = !arguments->json && !arguments->option[TOOL_OPT_DOT];
	struct ins_source *source;
	uint64_t limit;
	int code;

	if (arguments->json && arguments->option[TOOL_OPT_DOT])
		return tool_wrong(&tool_waits, "waits: needs either --dot or --json");
	if (!tool_option_number(arguments, TOOL_OPT_LIMIT, 1, SIZE_MAX, text ? LIMIT : SIZE_MAX,
				&limit))
		return TOOL_USAGE;
	code = tool.open(arguments, arguments->word[0], &source);
	if (code != TOOL_WELL)
		return code;
	code = answer(arguments, source, (size_t)limit);
	ins_source_close(source);
	return code;
}

const struct tool_command tool_waits = {
	.name = "waits",
	.usage = "PROCESS",
	.summary = "who waits for whom",
	.help = "Each fiber or thread that others wait for, with what it holds, how many wait for\n"
		"that and how long they have, those that hold up most fibers first; 'behind' are\n"
		"those that wait for the ones that wait. What nobody is known to hold, such as a\n"
		"semaphore or a lock that is held for reading, comes as one of them. Waits for\n"
		"time, for descriptors and for the system are not shown.\n"
		"\n"
		"Text shows 50 holders unless --limit says otherwise, --dot and --json all.\n"
		"--dot prints a graph: waits PROCESS --dot | dot -Tsvg > waits.svg\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_DOT) | TOOL_TAKES(TOOL_OPT_LIMIT),
	.run = run,
};
