/* SPDX-License-Identifier: MIT */
/* played.c - the common part of commands on a recording */
#include "fibertrace/played.h"

#include "inspect/text/atomic_file.h"
#include "tool/atomic_file.h"
#include "tool/report.h"

int trace_played_open(const char *path, bool account, struct trace_played *ret)
{
	struct ins_error error = {""};

	*ret = (struct trace_played){.recording = NULL};
	if (ins_recording_open(path, &error, &ret->recording) < 0)
		return tool_cannot("%s", error.text);
	if (ins_replay_new(ret->recording, &ret->replay) < 0 ||
	    (account && ins_account_new(ret->recording, ret->replay, &ret->account) < 0))
		return tool_cannot("out of memory");
	return TOOL_WELL;
}

void trace_played_close(struct trace_played *played)
{
	ins_account_free(played->account);
	ins_replay_free(played->replay);
	ins_recording_close(played->recording);
}

static int put_file(const char *path, bool replace, const struct trace_played *played,
		    trace_played_fn *put, size_t rows)
{
	struct ins_error error = {""};
	struct ins_atomic_file atomic_file;
	int rc;

	tool_atomic_file_guard();
	rc = ins_atomic_file_begin(&atomic_file, path, replace, &error);
	if (rc == 0) {
		rc = put(atomic_file.out, played, rows);
		if (rc < 0)
			ins_atomic_file_cannot(path, rc, &error);
		rc = ins_atomic_file_end(&atomic_file, rc, &error);
	}
	return rc < 0 ? tool_cannot("%s", error.text) : TOOL_WELL;
}

int trace_played_show(const struct trace_played *played, const struct tool_arguments *arguments,
		      trace_played_fn *put, size_t rows)
{
	const char *path = arguments->option[TOOL_OPT_OUTPUT];

	if (path)
		return put_file(path, arguments->option[TOOL_OPT_FORCE] != NULL, played, put, rows);
	return tool_written(put(stdout, played, rows) < 0 ? TOOL_PARTIAL : TOOL_WELL);
}
