/* SPDX-License-Identifier: MIT */
/* cmd_report.c - fibertrace report FILE: where the time of a recording went. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fibertrace/fibertrace.h"
#include "fibertrace/page.h"
#include "inspect/text/draft.h"
#include "inspect/render/render.h"
#include "inspect/render/render_account.h"
#include "inspect/render/render_page.h"
#include "tool/draft.h"
#include "tool/report.h"

#define ROWS 15

struct choices {
	bool json, html, replace;
	size_t rows; /* of a table */
	const char *from, *to;
};

static int put_json(FILE *out, const struct ins_recording *r, const struct ins_account *a,
		    size_t rows)
{
	const struct ins_summary summary = {.total = a->fibers,
					    .shown = a->fibers,
					    .taken = r->head.wall,
					    .host = r->head.host};
	struct ins_problems problems = {0};
	struct ins_json json;
	int rc;

	if (r->lost)
		ins_problems_add(&problems, "%llu event%s lost", (unsigned long long)r->lost,
				 r->lost == 1 ? " was" : "s were");
	ins_json_begin(&json, out, r->head.pid, r->head.name, "recording", NULL);
	ins_json_key(&json, "lost", json_integer((json_int_t)r->lost));
	ins_json_key(&json, "totals", ins_account_totals(a));
	ins_json_key(&json, "carriers", ins_account_carriers(r, a));
	ins_json_key(&json, "functions", ins_account_functions(r, a, rows));
	ins_json_key(&json, "waits", ins_account_waits(r, a, rows));
	ins_json_key(&json, "stacks", ins_account_stacks(a, rows));
	ins_json_key(&json, "counts", ins_account_counts(a));
	ins_json_key(&json, "looks", ins_account_looks(r));
	rc = ins_json_end(&json, &summary, &problems);
	ins_problems_free(&problems);
	return rc;
}

static int put(FILE *out, const struct choices *c, const struct ins_recording *r,
	       struct ins_replay *replay, const struct ins_account *a)
{
	if (c->html)
		return ins_page(out, trace_page, (size_t)(trace_page_end - trace_page), r, replay,
				a, c->rows);
	if (c->json)
		return put_json(out, r, a, c->rows);
	ins_account_text(out, r, replay, a, c->rows);
	return ferror(out) ? -EIO : 0;
}

static int write_to(const struct choices *c, const struct ins_recording *r,
		    struct ins_replay *replay, const struct ins_account *a)
{
	const int well = r->lost ? TOOL_PARTIAL : TOOL_WELL;
	struct ins_error error = {""};
	struct ins_draft draft;
	int rc;

	if (!c->to)
		return tool_written(put(stdout, c, r, replay, a) < 0 ? TOOL_PARTIAL : well);
	tool_draft_guard();
	rc = ins_draft_begin(&draft, c->to, c->replace, &error);
	if (rc == 0) {
		rc = put(draft.out, c, r, replay, a);
		if (rc < 0)
			ins_draft_cannot(c->to, rc, &error);
		rc = ins_draft_end(&draft, rc, &error);
	}
	return rc < 0 ? tool_cannot("%s", error.text) : well;
}

static int report(const struct choices *c)
{
	struct ins_recording *recording;
	struct ins_replay *replay = NULL;
	struct ins_account *account = NULL;
	struct ins_error error = {""};
	int code;

	if (ins_recording_open(c->from, &error, &recording) < 0)
		return tool_cannot("%s", error.text);
	if (ins_replay_new(recording, &replay) < 0 ||
	    ins_account_new(recording, replay, &account) < 0)
		code = tool_cannot("out of memory");
	else
		code = write_to(c, recording, replay, account);
	ins_account_free(account);
	ins_replay_free(replay);
	ins_recording_close(recording);
	return code;
}

static int run(const struct tool_arguments *arguments)
{
	struct choices choices = {
		.json = arguments->json,
		.html = arguments->option[TOOL_OPT_HTML] != NULL,
		.replace = arguments->option[TOOL_OPT_FORCE] != NULL,
		.from = arguments->word[0],
		.to = arguments->option[TOOL_OPT_OUTPUT],
	};

	const bool all = arguments->option[TOOL_OPT_ALL] || choices.html || choices.json;
	uint64_t rows;

	if (!tool_option_number(arguments, TOOL_OPT_LIMIT, 0, SIZE_MAX, all ? SIZE_MAX : ROWS,
				&rows))
		return TOOL_USAGE;
	choices.rows = (size_t)rows;
	if (choices.html && choices.json)
		return tool_wrong(&trace_report, "--html: either that or --json");
	return report(&choices);
}

const struct tool_command trace_report = {
	.name = "report",
	.usage = "RECORDING",
	.summary = "where the time of a recording went",
	.help = "Where the time of what 'record' kept went: running, runnable, waiting; by "
		"carrier,\n"
		"by the function that fibers run, by what they waited for and where, and by "
		"stacks: a\n"
		"wait has one if it was looked at while it lasted, and what part of the time that "
		"is\n"
		"stands above them. --html: one page for a browser, that needs no network. Tables\n"
		"have 15 rows, or --limit; --all, --html and --json: all of them.\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_ALL) | TOOL_TAKES(TOOL_OPT_FORCE) |
		   TOOL_TAKES(TOOL_OPT_HTML) | TOOL_TAKES(TOOL_OPT_LIMIT) |
		   TOOL_TAKES(TOOL_OPT_OUTPUT),
	.run = run,
};
