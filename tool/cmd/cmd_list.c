/* SPDX-License-Identifier: MIT */
/*
 * cmd_list.c - print a line per fiber, or count fibers by a value
 *
 * The options form one query (inspect/query/query.h). Its rows go to a sink
 * (inspect/render/render_rows.h).
 */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "inspect/render/render_rows.h"
#include "tool/cmd/commands.h"
#include "tool/query.h"
#include "tool/report.h"

#define SCREENFUL 200	       /* lines on a terminal, unless told */
#define BUFFER	  (256u << 10) /* of standard output: a million lines are a hundred million bytes */

/* The terminal's width in characters; 0: standard output is no terminal, or has no width. */
static size_t width(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
										     : 0;
}

static int parse(const struct tool_arguments *a, struct ins_query *ret)
{
	/* At a terminal the rows are limited, so that the last line with the totals is visible. */
	const bool person = isatty(STDOUT_FILENO) && !a->json;
	uint64_t limit;

	if (a->option[TOOL_OPT_GROUP_BY] &&
	    (a->option[TOOL_OPT_SORT] || a->option[TOOL_OPT_COLUMNS]))
		return tool_wrong(&tool_list,
				  "--group-by: cannot be combined with --sort or --columns");
	if (!tool_option_number(a, TOOL_OPT_LIMIT, 0, UINT32_MAX,
				person ? SCREENFUL : INS_QUERY_ALL, &limit))
		return TOOL_USAGE;
	return tool_query(&tool_list, a, a->option[TOOL_OPT_ALL] ? INS_QUERY_ALL : limit, ret);
}

static int answer(const struct tool_arguments *a, struct ins_query *query,
		  struct ins_source *source)
{
	const struct ins_request more = {
		.high_water = a->json, .labels = a->json, .modules = a->json};
	const struct ins_query_sink *sink = a->json	      ? &ins_rows_json
					    : query->group_by ? &ins_rows_groups
							      : &ins_rows_columns;
	struct ins_rows rows = {.out = stdout, .bold = a->color, .width = width()};
	struct ins_error error = {""};
	const int rc = ins_query_run(query, source, &more, sink, &rows, &error);

	if (rc < 0)
		return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	if (rows.failed || ins_problems_lines(&source->problems))
		return tool_written(TOOL_PARTIAL);
	return tool_written(TOOL_WELL);
}

static int run(const struct tool_arguments *arguments)
{
	static char buffer[BUFFER]; /* setvbuf() ignores the size without a buffer */
	struct ins_source *source;
	struct ins_query query = {0};
	int code = parse(arguments, &query);

	query.by_id = true;
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	if (code == TOOL_WELL)
		code = tool->open(arguments, arguments->word[0], &source);
	if (code == TOOL_WELL) {
		code = answer(arguments, &query, source);
		ins_source_close(source);
	}
	ins_query_drop(&query);
	return code;
}

const struct tool_command tool_list = {
	.name = "list",
	.usage = "PROCESS",
	.summary = "every fiber and what it waits for",
	.help = "One line for each fiber: its id, its state, how long it has been in that state,\n"
		"the number of switches to it, the part of its stack in use (- while it runs),\n"
		"the size of its stack, what it waits for and which fiber holds that, its name.\n"
		"The last line says how many fibers there were and how long the sampling took.\n"
		"The program is not stopped: each line is consistent, but different lines may be\n"
		"from different moments.\n"
		"\n"
		"The lines are in the order of ids, unless --sort is given; of a program that had\n"
		"more than 65536 fibers at once, as they are read.\n"
		"\n"
		"On a terminal at most 200 lines are printed, unless --limit or --all is given,\n"
		"and the last column is cut at its width.\n"
		"For the fields of --where, --sort, --columns and --group-by see the topic\n"
		"'where'. --columns id,state,age,waiting,place shows where each fiber is in the\n"
		"program's own code; it needs the stacks, which takes ten times as long.\n",
	.example = "list httpd --columns id,state,age,wait\n"
		   "        ID STATE          AGE  KIND\n"
		   "         1 suspended     1.3s  fd\n"
		   "         3 suspended     1.3s  sleep\n"
		   "         4 suspended     1.3s  mutex\n"
		   "shown 3 of 3 fibers, sampled over 33us\n",
	.least = 1,
	.most = 1,
	.threads = true,
	.options = TOOL_TAKES(TOOL_OPT_ALL) | TOOL_TAKES(TOOL_OPT_COLUMNS) |
		   TOOL_TAKES(TOOL_OPT_GROUP_BY) | TOOL_TAKES(TOOL_OPT_LIMIT) |
		   TOOL_TAKES(TOOL_OPT_MODULE) | TOOL_TAKES(TOOL_OPT_SORT) |
		   TOOL_TAKES(TOOL_OPT_WHERE),
	.run = run,
};
