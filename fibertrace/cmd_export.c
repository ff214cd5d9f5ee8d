/* SPDX-License-Identifier: MIT */
/* cmd_export.c - fibertrace export FILE --perfetto: a recording for the timelines of others. */
#include <stdio.h>

#include "fibertrace/fibertrace.h"
#include "inspect/text/draft.h"
#include "inspect/recording/recording.h"
#include "inspect/render/render_trace_events.h"
#include "tool/draft.h"
#include "tool/report.h"

static int write_to(const char *path, bool replace, const struct ins_recording *recording,
		    struct ins_replay *replay)
{
	struct ins_error error = {""};
	struct ins_draft draft;
	int rc;

	if (!path)
		return tool_written(ins_trace_events(stdout, recording, replay) < 0 ? TOOL_PARTIAL
										    : TOOL_WELL);
	tool_draft_guard();
	rc = ins_draft_begin(&draft, path, replace, &error);
	if (rc == 0) {
		rc = ins_trace_events(draft.out, recording, replay);
		if (rc < 0)
			ins_draft_cannot(path, rc, &error);
		rc = ins_draft_end(&draft, rc, &error);
	}
	return rc < 0 ? tool_cannot("%s", error.text) : TOOL_WELL;
}

static int convert(const char *from, const char *to, bool replace)
{
	struct ins_recording *recording;
	struct ins_replay *replay;
	struct ins_error error = {""};
	int code;

	if (ins_recording_open(from, &error, &recording) < 0)
		return tool_cannot("%s", error.text);
	if (ins_replay_new(recording, &replay) < 0) {
		ins_recording_close(recording);
		return tool_cannot("out of memory");
	}
	code = write_to(to, replace, recording, replay);
	if (recording->lost && code == TOOL_WELL) {
		fprintf(stderr, "fibertrace: %llu event%s lost: the timeline has holes\n",
			(unsigned long long)recording->lost,
			recording->lost == 1 ? " was" : "s were");
		code = TOOL_PARTIAL;
	}
	ins_replay_free(replay);
	ins_recording_close(recording);
	return code;
}

static int run(const struct tool_arguments *arguments)
{
	if (!arguments->option[TOOL_OPT_PERFETTO])
		return tool_wrong(&trace_export, "export: say --perfetto");
	return convert(arguments->word[0], arguments->option[TOOL_OPT_OUTPUT],
		       arguments->option[TOOL_OPT_FORCE] != NULL);
}

const struct tool_command trace_export = {
	.name = "export",
	.usage = "RECORDING --perfetto",
	.summary = "a recording as a timeline for others",
	.help = "Writes what 'record' kept as a timeline that https://ui.perfetto.dev and\n"
		"chrome://tracing open (Trace Event Format, JSON): a track for each carrier and\n"
		"each fiber, an arrow from who wakes to who is woken.\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_FORCE) | TOOL_TAKES(TOOL_OPT_OUTPUT) |
		   TOOL_TAKES(TOOL_OPT_PERFETTO),
	.run = run,
};
