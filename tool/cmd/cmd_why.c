/* SPDX-License-Identifier: MIT */
/* cmd_why.c - print what is wrong with a program, worst first */
#include <string.h>

#include "inspect/render/render.h"
#include "inspect/render/render_why.h"
#include "inspect/why/rules.h"
#include "tool/cmd/commands.h"
#include "tool/cmd/why_since.h"
#include "tool/report.h"

#define MOST 64 /* findings with words, as JSON */

#define BETWEEN INT64_C(200000000) /* ns between the readings, unless told */

static int put_json(const struct ins_look *look, const struct ins_findings *findings)
{
	struct ins_source *s = look->source;
	struct ins_json json;
	size_t i;

	ins_json_begin(&json, stdout, s->pid, s->name, s->kind, "findings");
	for (i = 0; i < findings->count && i < MOST; i++)
		ins_json_row(&json, ins_json_finding(&findings->all[i]));
	ins_json_key(&json, "found", json_integer((json_int_t)(findings->count + findings->more)));
	return ins_json_end(&json, ins_table_summary(look->last.table), &s->problems);
}

static int put(const struct tool_arguments *arguments, const struct ins_look *look,
	       const struct ins_findings *findings)
{
	int code = ins_problems_lines(&look->source->problems) ? TOOL_PARTIAL : TOOL_WELL;
	char who[1024];

	if (arguments->json) {
		if (put_json(look, findings) < 0)
			code = TOOL_PARTIAL;
	} else {
		ins_text_why(stdout, look, findings, tool->name,
			     tool_options_who(arguments, who, sizeof who));
		ins_text_end(stdout, ins_table_summary(look->last.table), &look->source->problems);
	}
	/* The findings are sorted by severity. */
	if (findings->count)
		code = findings->all[0].severity == INS_LASTS ? TOOL_FOUND : TOOL_SLOW;
	return tool_written(code);
}

static int ask(const struct tool_arguments *arguments, struct ins_look *look, int64_t between)
{
	struct ins_findings findings = {0};
	struct ins_error error = {""};
	const char *since = arguments->option[TOOL_OPT_SINCE];
	int rc = ins_look_take(look, between, &error), code = TOOL_WELL;

	if (rc == 0 && since)
		code = tool_why_since(look, since);
	if (code != TOOL_WELL)
		return code;
	if (rc == 0)
		rc = ins_rules_apply(look, arguments->json ? MOST : INS_WHY_SCREEN, &findings);
	if (rc < 0)
		code = tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	else
		code = put(arguments, look, &findings);
	ins_findings_drop(&findings);
	return code;
}

static int run(const struct tool_arguments *arguments)
{
	struct ins_look look = {0};
	struct ins_error error = {""};
	int64_t between;
	int code;

	if (!tool_option_duration(arguments, TOOL_OPT_FOR, BETWEEN, &between))
		return TOOL_USAGE;
	code = tool->open(arguments, arguments->word[0], &look.source);
	if (code != TOOL_WELL)
		return code;
	look.deep = arguments->option[TOOL_OPT_DEEP];
	if (look.deep && ins_lost_possible(look.source, &error) < 0) {
		code = tool_cannot("--deep: %s", error.text);
		ins_source_close(look.source);
		return code;
	}
	look.single = ins_source_still(look.source);
	look.pid = look.source->modules->pid;
	code = ask(arguments, &look, between);
	ins_look_drop(&look);
	ins_source_close(look.source);
	return code;
}

const struct tool_command tool_why = {
	.name = "why",
	.usage = "PROCESS",
	.summary = "what is wrong, worst first",
	.help = "Reads all fibers twice and prints what is wrong with the program: a sentence for\n"
		"each finding, the fibers and places that it is based on, and the command that\n"
		"shows more. The last line says what the fibers wait for.\n"
		"\n"
		"Will not end by itself:\n"
		"  deadlock  fibers that wait for each other, or for a lock that nobody releases\n"
		"  stopped   the process is stopped, traced or frozen\n"
		"  leaks     fibers that nothing alive can wake: with --deep, which searches the\n"
		"            memory of the program as 'fibertrace leaks' does\n"
		"Slow or suspicious:\n"
		"  convoy    3 fibers or more wait for locks behind one fiber, for 1s and more\n"
		"  carrier   a fiber keeps a carrier, and others can run and wait for 200ms\n"
		"  delay     fibers that can run wait for 200ms at the 99th percentile\n"
		"  pinned    fibers wait while they are pinned, for 1s and more\n"
		"  forgotten fibers wait for 1s and more for an object without a waiter\n"
		"  signal    fibers wait for 1s and more for a signal, and the only fiber\n"
		"            that ever sent one has ended\n"
		"  peer      5 connections or more to one address wait for an answer for 1s\n"
		"  offload   a blocking call has waited for a thread for 1s and more\n"
		"  failed    a background fiber has failed and was not joined\n"
		"  stack     stacks of which 90 % or more are used, or were\n"
		"  growth    fibers from one place only get more: with --for 2s or more, or\n"
		"            since an older snapshot of the process\n"
		"  limits    90 % of the descriptors, or of the control group's memory, are used\n"
		"  recorder  the recording in progress has lost events\n"
		"  stopped   its CPU quota is used up\n"
		"A core or a snapshot is read once.\n"
		"\n"
		"Exit status: 0 if nothing was found, 3 for a finding that will not end by\n"
		"itself, 4 for others.\n",
	.example = "why trouble\n"
		   "trouble (pid 25601): 5 of 9 fibers wait for locks behind one that sleeps\n"
		   "...\n"
		   "  more: fiberctl show trouble 2; fiberctl waits trouble\n",
	.least = 1,
	.most = 1,
	.threads = true,
	.options = TOOL_TAKES(TOOL_OPT_DEEP) | TOOL_TAKES(TOOL_OPT_FOR) |
		   TOOL_TAKES(TOOL_OPT_MODULE) | TOOL_TAKES(TOOL_OPT_SINCE),
	.run = run,
};
