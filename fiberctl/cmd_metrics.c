/* SPDX-License-Identifier: MIT */
/*
 * cmd_metrics.c - print the counters and findings of one program or of all, for Prometheus or as JSON
 *
 * The node exporter may read files in its folder at any moment, so a file must appear there
 * complete. A program that does not answer must not hide the numbers of others: it has a metric
 * with the value 0.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/fleet.h"
#include "fiberctl/metrics.h"
#include "tool/atomic_file.h"
#include "inspect/text/atomic_file.h"
#include "inspect/text/duration.h"
#include "inspect/render/render.h"
#include "tool/report.h"

/* The draft has a name that the node exporter ignores (not *.prom). */
static int write_file(const char *path, const struct ctl_fleet *fleet)
{
	struct ctl_sink sink = {0};
	struct ins_atomic_file atomic_file;
	struct ins_error error;
	int rc;

	tool_atomic_file_guard();
	rc = ins_atomic_file_begin(&atomic_file, path, true, &error);
	if (rc == 0) {
		sink.out = atomic_file.out;
		ctl_metrics_write(&sink, fleet->all, fleet->count);
		if (fchmod(fileno(atomic_file.out), 0644) < 0)
			rc = ins_atomic_file_cannot(path, -errno, &error);
		rc = ins_atomic_file_end(&atomic_file, rc, &error);
	}
	return rc < 0 ? tool_cannot("%s", error.text) : TOOL_WELL;
}

static json_t *processes(const struct ctl_fleet *fleet)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < fleet->count; i++) {
		const struct ctl_process_stats *one = &fleet->all[i];

		json_array_append_new(
			all,
			json_pack("{s:i, s:o, s:b}", "pid", (int)one->pid, "name",
				  ins_json_text(one->answered ? one->stats.process.name : NULL),
				  "answered", one->answered));
	}
	return all;
}

/* As one program if one was named, else as a list. */
static void put_json(const struct ctl_fleet *fleet, bool named, int64_t took)
{
	struct ins_summary summary = {.sampled_ns = took, .total = fleet->count};
	struct ins_json json;
	struct ctl_sink sink = {.json = &json};
	size_t i;

	for (i = 0; i < fleet->count; i++)
		summary.shown += fleet->all[i].answered;
	ins_json_begin(&json, stdout, named ? fleet->all->pid : 0,
		       named ? fleet->all->stats.process.name : "", fleet->source, "families");
	ctl_metrics_write(&sink, fleet->all, fleet->count);
	ins_json_key(&json, "processes", processes(fleet));
	ins_json_end(&json, &summary, &fleet->problems);
}

static void say_problems(const struct ctl_fleet *fleet)
{
	char text[640];
	size_t i;

	for (i = 0; i < ins_problems_lines(&fleet->problems); i++)
		tool_cannot("%s", ins_problems_text(&fleet->problems, i, text, sizeof text));
}

static int write_all(const struct tool_arguments *arguments, const struct ctl_fleet *fleet,
		     int64_t took)
{
	const char *path = arguments->option[TOOL_OPT_OUTPUT];
	struct ctl_sink sink = {.out = stdout};
	int code = TOOL_WELL;

	if (arguments->json) {
		put_json(fleet, arguments->words, took);
		return tool_written(fleet->code);
	}
	say_problems(fleet);
	if (path)
		code = write_file(path, fleet);
	else
		ctl_metrics_write(&sink, fleet->all, fleet->count);
	return code == TOOL_WELL ? tool_written(fleet->code) : code;
}

static int run(const struct tool_arguments *arguments)
{
	struct ctl_fleet fleet = {
		.json = arguments->json,
		.look = !arguments->option[TOOL_OPT_NO_FINDINGS],
		.source = "control",
		.code = TOOL_WELL,
	};
	const char *path = arguments->option[TOOL_OPT_OUTPUT];
	const int64_t began = ins_duration_now();
	int code = TOOL_WELL;

	if (arguments->json && path)
		return tool_wrong(&ctl_metrics,
				  "--output: writes the Prometheus format: leave --json out");
	if (path && !path[0])
		return tool_wrong(&ctl_metrics, "--output: needs a file name");
	if (arguments->words)
		code = ctl_fleet_ask_one(&fleet, arguments->word[0]);
	else
		ctl_fleet_ask_all(&fleet);
	if (code == TOOL_WELL && fleet.code != TOOL_CANNOT)
		code = write_all(arguments, &fleet, ins_duration_now() - began);
	else if (code == TOOL_WELL)
		code = fleet.code;
	ctl_fleet_free(&fleet);
	return code;
}

const struct tool_command ctl_metrics = {
	.name = "metrics",
	.usage = "[PROCESS]",
	.summary = "metrics for Prometheus, of one or of all",
	.help = "Prints the metrics of the process in the text format of Prometheus: fibers by\n"
		"state and by kind of wait, spawned and exited fibers; for each carrier switches,\n"
		"steals, wake-ups, polls, time-outs and CPU time; how long runnable fibers\n"
		"waited; pinned waits, stacks and memory. libfiber_finding has how many fibers\n"
		"each rule of 'why' concerns, as far as one look at all fibers can tell;\n"
		"--no-findings leaves the look out. Without PROCESS: of all processes of\n"
		"this user; one that does not answer has libfiber_up 0. --output replaces the\n"
		"file only when the output is complete, so the file can be read at any time; the\n"
		"name of the temporary file does not end in '.prom'. A timer for the node\n"
		"exporter, alert rules for Prometheus and a dashboard for Grafana are installed:\n"
		"see fiberctl(1). --json prints the same metrics as JSON.\n",
	.example = "metrics httpd\n"
		   "# HELP libfiber_up Whether the process has answered.\n"
		   "# TYPE libfiber_up gauge\n"
		   "libfiber_up{pid=\"15573\"} 1\n"
		   "...\n",
	.least = 0,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_NO_FINDINGS) | TOOL_TAKES(TOOL_OPT_OUTPUT),
	.run = run,
};
