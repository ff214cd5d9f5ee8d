/* SPDX-License-Identifier: MIT */
/* cmd_export.c - fibertrace export FILE --perfetto: convert a recording for other viewers */
#include "fibertrace/fibertrace.h"
#include "fibertrace/played.h"
#include "inspect/render/render_trace_events.h"
#include "tool/report.h"

static int put(FILE *out, const struct trace_played *p, size_t rows)
{
	(void)rows;
	return ins_trace_events(out, p->recording, p->replay);
}

static int say_lost(uint64_t lost)
{
	fprintf(stderr, "fibertrace: %llu event%s lost: the timeline has holes\n",
		(unsigned long long)lost, lost == 1 ? " was" : "s were");
	return TOOL_PARTIAL;
}

static int run(const struct tool_arguments *arguments)
{
	struct trace_played played;
	int code;

	if (!arguments->option[TOOL_OPT_PERFETTO])
		return tool_wrong(&trace_export, "export: needs --perfetto");
	code = trace_played_open(arguments->word[0], false, &played);
	if (code == TOOL_WELL)
		code = trace_played_show(&played, arguments, put, 0);
	if (code == TOOL_WELL && played.recording->lost)
		code = say_lost(played.recording->lost);
	trace_played_close(&played);
	return code;
}

const struct tool_command trace_export = {
	.name = "export",
	.usage = "RECORDING --perfetto",
	.summary = "a recording as a timeline for viewers",
	.help = "Writes what 'record' kept as a timeline that https://ui.perfetto.dev and\n"
		"chrome://tracing open (Trace Event Format, JSON): a track for each carrier and\n"
		"each fiber, and an arrow from each waker to the fiber that it wakes.\n",
	.example = "export httpd.rec --perfetto > httpd.json\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_FORCE) | TOOL_TAKES(TOOL_OPT_OUTPUT) |
		   TOOL_TAKES(TOOL_OPT_PERFETTO),
	.run = run,
};
