/* SPDX-License-Identifier: MIT */
/* cmd_record.c - fibertrace record PROCESS -o FILE --for 5s */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fibertrace/fibertrace.h"
#include "fibertrace/take.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "tool/process.h"
#include "tool/report.h"

#define RING_EVENTS  131072
#define RING_MOST    (1 << 22)
#define LENGTH	     INT64_C(5000000000)
#define LONGEST	     INT64_C(3600000000000)
#define STACKS	     INT64_C(1000000000)
#define STACKS_LEAST INT64_C(20000000)

static int parse(const struct tool_arguments *arguments, struct trace_take *ret)
{
	uint64_t ring;

	*ret = (struct trace_take){.path = arguments->option[TOOL_OPT_OUTPUT],
				   .replace = arguments->option[TOOL_OPT_FORCE] != NULL,
				   .verbose = arguments->option[TOOL_OPT_VERBOSE] != NULL,
				   .json = arguments->json,
				   .hide = !arguments->option[TOOL_OPT_ALL_FRAMES]};
	if (!ret->path)
		return tool_wrong(&trace_record, "record: needs -o FILE");
	if (!tool_option_duration(arguments, TOOL_OPT_FOR, LENGTH, &ret->length) ||
	    !tool_option_number(arguments, TOOL_OPT_RING, 256, RING_MOST, RING_EVENTS, &ring))
		return TOOL_USAGE;
	if (ret->length <= 0 || ret->length > LONGEST)
		return tool_wrong(&trace_record,
				  "--for %s: must be more than 0 and at most an hour",
				  arguments->option[TOOL_OPT_FOR]);
	if (!tool_option_duration(arguments, TOOL_OPT_STACKS_EVERY, STACKS, &ret->stacks_every))
		return TOOL_USAGE;
	if (arguments->option[TOOL_OPT_STACKS_EVERY] &&
	    ins_duration_bare(arguments->option[TOOL_OPT_STACKS_EVERY]))
		return tool_wrong(&trace_record, "--stacks-every %s: say the unit, as in %sms",
				  arguments->option[TOOL_OPT_STACKS_EVERY],
				  arguments->option[TOOL_OPT_STACKS_EVERY]);
	if (ret->stacks_every < STACKS_LEAST)
		return tool_wrong(&trace_record, "--stacks-every %s: 20ms or more",
				  arguments->option[TOOL_OPT_STACKS_EVERY]);
	ret->ring = (uint32_t)ring;
	return TOOL_WELL;
}

static void put_json(const struct trace_take *how, const struct trace_taken *taken)
{
	const struct ins_summary summary = {.total = taken->fibers, .shown = taken->fibers};
	struct ins_json json;
	struct stat file;

	if (stat(how->path, &file) < 0)
		file.st_size = 0; /* the file was removed meanwhile */
	ins_json_begin(&json, stdout, taken->pid, taken->name, "control", NULL);
	ins_json_key(&json, "recording",
		     json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "file", ins_json_text(how->path),
			       "bytes", (json_int_t)file.st_size, "durationNs",
			       (json_int_t)taken->length, "events", (json_int_t)taken->events,
			       "lost", (json_int_t)taken->lost, "stackSamples",
			       (json_int_t)taken->looks));
	ins_json_end(&json, &summary, &taken->problems);
}

static void put_text(const struct trace_take *how, const struct trace_taken *taken)
{
	char length[32], clean[320], text[512];
	size_t i;

	printf("%s: %s of %s (process %d): %" PRIu64 " event%s, %" PRIu64 " lost, %" PRIu64
	       " fiber%s at the end, stacks sampled %zu time%s\n",
	       ins_escape(how->path, text, sizeof text),
	       ins_duration_text(taken->length, length, sizeof length),
	       ins_escape_quoted(taken->name, clean, sizeof clean), taken->pid, taken->events,
	       taken->events == 1 ? "" : "s", taken->lost, taken->fibers,
	       taken->fibers == 1 ? "" : "s", taken->looks, taken->looks == 1 ? "" : "s");
	for (i = 0; i < ins_problems_lines(&taken->problems); i++)
		printf("problem: %s\n", ins_problems_text(&taken->problems, i, text, sizeof text));
}

static int say(const struct trace_take *how, const struct trace_taken *taken)
{
	if (how->json)
		put_json(how, taken);
	else
		put_text(how, taken);
	return tool_written(ins_problems_lines(&taken->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static int run(const struct tool_arguments *arguments)
{
	struct trace_taken taken;
	struct ins_error error = {""};
	struct trace_take how;
	struct tool_socket socket;
	int code = parse(arguments, &how);

	if (code == TOOL_WELL)
		code = tool_process_find(arguments->word[0], &socket);
	if (code != TOOL_WELL)
		return code;
	how.socket = socket.path;
	how.pid = socket.pid;
	code = trace_take(&how, &taken, &error) < 0 ? tool_cannot("%s", error.text)
						    : say(&how, &taken);
	ins_problems_free(&taken.problems);
	return code;
}

const struct tool_command trace_record = {
	.name = "record",
	.usage = "PROCESS -o FILE",
	.summary = "what the scheduler does, event by event",
	.help = "Switches on the flight recorder of a program with fibers, writes its events to\n"
		"FILE, and switches it off again. Ctrl-C ends the recording early. 'report FILE'\n"
		"shows where the time went, 'export FILE --perfetto' writes a timeline. The\n"
		"process is asked over its control socket; the path of the socket may be given\n"
		"instead. --ring: the number of events that each carrier can store between two\n"
		"readings (default: 131072, 4 MiB); further events are lost, and counted. The\n"
		"stacks of all fibers are sampled at the start, at the end, and about every\n"
		"second or as --stacks-every says; less often if that takes long. --json: a\n"
		"summary at the end.\n",
	.example = "record httpd -o httpd.rec --for 2s\n"
		   "recording: Ctrl-C ends it\n"
		   "httpd.rec: 2s of httpd (process 21250): 1462 events, 0 lost, ...\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_ALL_FRAMES) | TOOL_TAKES(TOOL_OPT_FOR) |
		   TOOL_TAKES(TOOL_OPT_FORCE) | TOOL_TAKES(TOOL_OPT_OUTPUT) |
		   TOOL_TAKES(TOOL_OPT_RING) | TOOL_TAKES(TOOL_OPT_STACKS_EVERY) |
		   TOOL_TAKES(TOOL_OPT_VERBOSE),
	.live = true,
	.run = run,
};
