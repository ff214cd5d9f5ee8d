/* SPDX-License-Identifier: MIT */
/* cmd_snapshot.c - save everything about a process, including stacks, to a file */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiberctl/fiberctl.h"
#include "tool/process.h"
#include "tool/atomic_file.h"
#include "tool/report.h"
#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "inspect/source/snapshot.h"
#include "inspect/source/source.h"
#include "inspect/threads/threads.h"

static void put_json(const struct ins_snapshot_taken *taken, const char *path)
{
	const struct ins_snapshot_head *h = &taken->head;
	const struct ins_summary summary = {
		.total = taken->total,
		.shown = taken->shown,
		.sampled_ns = taken->sampled_ns,
		.taken = h->taken,
		.host = h->host,
	};
	struct ins_json json;

	ins_json_begin(&json, stdout, h->pid, h->name, "control", NULL);
	ins_json_key(&json, "snapshot",
		     json_pack("{s:o, s:I, s:I, s:o}", "file", ins_json_text(path), "bytes",
			       (json_int_t)h->size, "takenNs", (json_int_t)h->taken, "host",
			       ins_json_text(h->host)));
	ins_json_end(&json, &summary, &taken->problems);
}

static void put_text(const struct ins_snapshot_taken *taken, const char *path)
{
	const struct ins_snapshot_head *h = &taken->head;
	const struct ins_summary summary = {
		.total = taken->total,
		.shown = taken->shown,
		.sampled_ns = taken->sampled_ns,
	};
	char file[4096], name[sizeof h->name * 4];

	printf("%s: %" PRIu64 " bytes: %s, process %d\n", ins_escape(path, file, sizeof file),
	       h->size, ins_escape(h->name, name, sizeof name), (int)h->pid);
	ins_text_end(stdout, &summary, &taken->problems);
}

/*
 * The threads of the process, if this user may read its memory. Otherwise they are left out: they
 * were not asked for.
 */
static struct ins_source *open_threads(pid_t pid)
{
	struct ins_source *ret;
	struct ins_error error;

	if (!pid || ins_source_open_live(pid, &error, &ret) < 0)
		return NULL;
	if (ins_threads_show_marked(ret) == 0)
		return ret;
	ins_source_close(ret);
	return NULL;
}

static int run(const struct tool_arguments *arguments)
{
	const char *path = arguments->option[TOOL_OPT_OUTPUT];
	bool replace = arguments->option[TOOL_OPT_FORCE] != NULL;
	struct ins_snapshot_taken taken;
	struct ins_source *threads;
	struct tool_socket socket;
	struct ins_error error;
	int code, rc;

	if (!path || !path[0])
		return tool_wrong(&ctl_snapshot, "snapshot: needs -o FILE");
	code = tool_process_find(arguments->word[0], &socket);
	if (code != TOOL_WELL)
		return code;
	tool_atomic_file_guard();
	threads = open_threads(socket.pid);
	rc = ins_snapshot_write(socket.path, socket.pid, TOOL_TIMEOUT, threads, path, replace,
				&taken, &error);
	ins_source_close(threads);
	if (rc < 0)
		code = tool_cannot("%s", error.text);
	else if (arguments->json)
		put_json(&taken, path);
	else
		put_text(&taken, path);
	if (rc == 0)
		code = tool_written(ins_problems_lines(&taken.problems) ? TOOL_PARTIAL : TOOL_WELL);
	ins_problems_free(&taken.problems);
	return code;
}

const struct tool_command ctl_snapshot = {
	.name = "snapshot",
	.usage = "PROCESS -o FILE",
	.summary = "save the state of a process in a file",
	.help = "Writes the fibers with their stacks, the carriers, the settings, and the\n"
		"recorded long runs, pinned waits and changes from outside to FILE. fibertrace\n"
		"and every command accept FILE instead of a PROCESS, except those that change or\n"
		"follow a process. This works later too, and on another machine, where the\n"
		"program's files are needed for names and backtraces. FILE contains stacks of the\n"
		"program, so only its owner can read it. An existing file is only replaced with\n"
		"--force, and only by a complete one.\n",
	.example = "snapshot httpd -o 1.snap\n"
		   "1.snap: 91855 bytes: httpd, process 15573\n"
		   "shown 5 of 5 fibers, sampled over 86us\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_OUTPUT) | TOOL_TAKES(TOOL_OPT_FORCE),
	.live = true,
	.run = run,
};
