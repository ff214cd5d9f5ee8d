/* SPDX-License-Identifier: MIT */
/* cmd_report.c - fibertrace report FILE: print where the time of a recording went */
#include <errno.h>

#include "fibertrace/fibertrace.h"
#include "fibertrace/page.h"
#include "fibertrace/played.h"
#include "inspect/render/render_account.h"
#include "inspect/render/render_page.h"
#include "tool/report.h"

#define ROWS 15 /* of a table, as text */

static int put_page(FILE *out, const struct trace_played *p, size_t rows)
{
	return ins_page(out, trace_page, (size_t)(trace_page_end - trace_page), p->recording,
			p->replay, p->account, rows);
}

static int put_json(FILE *out, const struct trace_played *p, size_t rows)
{
	return ins_account_json(out, p->recording, p->account, rows);
}

static int put_text(FILE *out, const struct trace_played *p, size_t rows)
{
	ins_account_text(out, p->recording, p->replay, p->account, rows);
	return ferror(out) ? -EIO : 0;
}

static int run(const struct tool_arguments *arguments)
{
	const bool json = arguments->json, html = arguments->option[TOOL_OPT_HTML] != NULL;
	const bool all = arguments->option[TOOL_OPT_ALL] || html || json;
	struct trace_played played;
	uint64_t rows;
	int code;

	if (!tool_option_number(arguments, TOOL_OPT_LIMIT, 0, SIZE_MAX, all ? SIZE_MAX : ROWS,
				&rows))
		return TOOL_USAGE;
	if (html && json)
		return tool_wrong(&trace_report, "--html: cannot be combined with --json");
	code = trace_played_open(arguments->word[0], true, &played);
	if (code == TOOL_WELL)
		code = trace_played_show(&played, arguments,
					 html	? put_page
					 : json ? put_json
						: put_text,
					 (size_t)rows);
	if (code == TOOL_WELL && played.recording->lost)
		code = TOOL_PARTIAL;
	trace_played_close(&played);
	return code;
}

const struct tool_command trace_report = {
	.name = "report",
	.usage = "RECORDING",
	.summary = "where the time of a recording went",
	.help = "Shows where the time of a recording went: running, runnable, waiting; by\n"
		"carrier, by the function that fibers run, by what they waited for and where, and\n"
		"by stack. A wait has a stack if it was sampled while it lasted; a line above the\n"
		"stacks says what part of the time that is. --html: one page for a browser, which\n"
		"needs no network. Tables have 15 rows, or --limit; with --all, --html and --json\n"
		"all rows.\n",
	.example = "report httpd.rec\n"
		   "httpd (process 21250): 2s, 302 fibers, 1462 events, 0 lost\n"
		   "\n"
		   "all fibers together: running 7ms, runnable 119ms (longest 1ms), ...\n"
		   "...\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_ALL) | TOOL_TAKES(TOOL_OPT_FORCE) |
		   TOOL_TAKES(TOOL_OPT_HTML) | TOOL_TAKES(TOOL_OPT_LIMIT) |
		   TOOL_TAKES(TOOL_OPT_OUTPUT),
	.run = run,
};
