/* SPDX-License-Identifier: MIT */
/*
 * cmd_metrics.c - print the counters of one program or of all, for Prometheus or as JSON
 *
 * The node exporter may read files in its folder at any moment, so a file must appear there
 * complete. A program that does not answer must not hide the numbers of others: it has a metric
 * with the value 0.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/metrics.h"
#include "fiberctl/reply.h"
#include "tool/atomic_file.h"
#include "inspect/text/atomic_file.h"
#include "inspect/text/duration.h"
#include "inspect/render/render.h"
#include "tool/report.h"
#include "tool/round.h"

struct fleet {
	struct ctl_process_stats *all;
	size_t count;
	bool json;
	struct ins_problems problems;
	const char *source; /* "control", or "snapshot" */
	int code;
};

static bool is_known(const struct fleet *fleet, pid_t pid)
{
	size_t i;

	for (i = 0; pid && i < fleet->count; i++)
		if (fleet->all[i].pid == pid)
			return true;
	return false;
}

/* Add an entry; NULL: no memory, with a message. */
static struct ctl_process_stats *add(struct fleet *fleet, pid_t pid)
{
	struct ctl_process_stats *all = realloc(fleet->all, (fleet->count + 1) * sizeof *all);

	if (!all) {
		fleet->code = tool_cannot("out of memory");
		return NULL;
	}
	fleet->all = all;
	all[fleet->count] = (struct ctl_process_stats){.pid = pid};
	return &all[fleet->count++];
}

static const char *reason(const struct tool_asked *asked, int rc)
{
	switch (rc) {
	case 0:
		return "it is older than this tool, and has no metrics";
	case -ETIMEDOUT:
		return "no answer: it is stopped, or its service thread hangs";
	case -EMSGSIZE:
		return "it announces a longer frame than any answer has: left out";
	default:
		return asked->why[0] ? asked->why : strerror(-rc);
	}
}

static void say_missing(struct fleet *fleet, const struct tool_asked *asked, int rc)
{
	char who[128];

	fleet->code = TOOL_PARTIAL;
	tool_socket_who(&asked->socket, who, sizeof who);
	if (rc == -ETIME)
		tool_left_out(&asked->socket);
	if (rc == -ETIME && fleet->json)
		ins_problems_add(&fleet->problems, "%s: its answer does not end: left out", who);
	else if (rc != -ETIME)
		ins_problems_add(&fleet->problems, "%s: %s", who, reason(asked, rc));
}

/* Whether the process is gone or another one answered in its place; it is then left out. */
static bool is_none(const struct tool_asked *asked, int rc, struct ctl_stats *stats)
{
	if (rc == -ECONNREFUSED || rc == -ENOENT || rc == -ECONNRESET || rc == -ESTALE) {
		tool_sockets_tidy(&asked->socket);
		return true;
	}
	return rc == 0 && stats->counted && !tool_socket_says(&asked->socket, &stats->process);
}

/* Add the answer of one program. stats belongs to the fleet afterwards, or is freed. */
static void take_one(struct fleet *fleet, const struct tool_asked *asked, struct ctl_stats *stats)
{
	/* An older program has no counters. */
	const int rc = asked->answered == 1 && asked->rc == -EOPNOTSUPP ? 0 : asked->rc;
	struct ctl_process_stats *one = NULL;

	if (!is_none(asked, rc, stats) && !is_known(fleet, asked->socket.pid))
		one = add(fleet, asked->socket.pid);
	if (one)
		snprintf(one->path, sizeof one->path, "%.107s", asked->socket.path);
	if (one && (rc < 0 || !stats->counted))
		say_missing(fleet, asked, rc);
	if (one && rc == 0) {
		one->answered = true;
		one->stats = *stats;
	} else
		ctl_stats_free(stats);
}

static void ask_all(struct fleet *fleet)
{
	struct ctl_stats *stats = NULL;
	struct tool_round round;
	size_t i;

	if (tool_round_gather(&round) < 0 ||
	    (round.count && !(stats = calloc(round.count, sizeof *stats)))) {
		fleet->code = tool_cannot("out of memory");
		round.count = 0;
	}
	for (i = 0; i < round.count; i++) {
		ctl_stats_questions(&stats[i], round.all[i].question);
		round.all[i].questions = 2;
	}
	tool_round_ask(&round, TOOL_HELLO_TIMEOUT);
	for (i = 0; stats && i < round.count; i++)
		take_one(fleet, &round.all[i], &stats[i]);
	free(stats);
	tool_round_free(&round);
}

static void ask_and_say(struct fleet *fleet)
{
	ask_all(fleet);
	if (!tool_sockets_left()[0])
		return;
	/* For text, a line is on stderr. */
	if (fleet->json)
		ins_problems_add(&fleet->problems, "left out: %s", tool_sockets_left());
	if (fleet->code == TOOL_WELL)
		fleet->code = TOOL_PARTIAL;
}

static int ask_one(struct fleet *fleet, const char *who)
{
	struct ctl_reply reply;
	struct ctl_process_stats *one;
	char why[256];
	int code = ctl_reply_open(&reply, who), rc;

	if (code != TOOL_WELL)
		return code;
	fleet->source = reply.source;
	one = add(fleet, reply.process.pid);
	if (one && reply.socket.known && !reply.socket.pid) {
		one->pid = 0;
		snprintf(one->path, sizeof one->path, "%.107s", reply.socket.path);
	}
	rc = one ? ctl_stats_read(&reply.client, &one->stats, why, sizeof why) : 0;
	if (!one)
		code = TOOL_CANNOT;
	else if (rc < 0)
		code = ctl_reply_refused(&reply, rc, why);
	else if (!one->stats.counted)
		code = ctl_reply_refused(
			&reply, -EOPNOTSUPP,
			"this program is older than this tool, and has no metrics");
	else
		one->answered = true;
	ctl_reply_close(&reply);
	return code;
}

/* -- writing -- */

/* The draft has a name that the node exporter ignores (not *.prom). */
static int write_file(const char *path, const struct fleet *fleet)
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

static json_t *processes(const struct fleet *fleet)
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
static void put_json(const struct fleet *fleet, bool named, int64_t took)
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

static void say_problems(const struct fleet *fleet)
{
	char text[640];
	size_t i;

	for (i = 0; i < ins_problems_lines(&fleet->problems); i++)
		tool_cannot("%s", ins_problems_text(&fleet->problems, i, text, sizeof text));
}

static int write_all(const struct tool_arguments *arguments, const struct fleet *fleet,
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
	struct fleet fleet = {.json = arguments->json, .source = "control", .code = TOOL_WELL};
	const char *path = arguments->option[TOOL_OPT_OUTPUT];
	const int64_t began = ins_duration_now();
	int code = TOOL_WELL;
	size_t i;

	if (arguments->json && path)
		return tool_wrong(&ctl_metrics,
				  "--output: writes the Prometheus format: leave --json out");
	if (path && !path[0])
		return tool_wrong(&ctl_metrics, "--output: needs a file name");
	if (arguments->words)
		code = ask_one(&fleet, arguments->word[0]);
	else
		ask_and_say(&fleet);
	if (code == TOOL_WELL && fleet.code != TOOL_CANNOT)
		code = write_all(arguments, &fleet, ins_duration_now() - began);
	else if (code == TOOL_WELL)
		code = fleet.code;
	for (i = 0; i < fleet.count; i++)
		ctl_stats_free(&fleet.all[i].stats);
	free(fleet.all);
	ins_problems_free(&fleet.problems);
	return code;
}

const struct tool_command ctl_metrics = {
	.name = "metrics",
	.usage = "[PROCESS]",
	.summary = "metrics for Prometheus, of one or of all",
	.help = "Prints the metrics of the process in the text format of Prometheus: fibers by\n"
		"state and by kind of wait, spawned and exited fibers; for each carrier switches,\n"
		"steals, wake-ups, polls, time-outs and CPU time; how long runnable fibers\n"
		"waited; pinned waits, stacks and memory. Without PROCESS: of all processes of\n"
		"this user; one that does not answer has libfiber_up 0. --output replaces the\n"
		"file only when the output is complete, so the file can be read at any time; the\n"
		"name of the temporary file does not end in '.prom'. A timer for the node\n"
		"exporter and a dashboard for Grafana are installed: see fiberctl(1). --json\n"
		"prints the same metrics as JSON.\n",
	.example = "metrics httpd\n"
		   "# HELP libfiber_up Whether the process has answered.\n"
		   "# TYPE libfiber_up gauge\n"
		   "libfiber_up{pid=\"15573\"} 1\n"
		   "...\n",
	.least = 0,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_OUTPUT),
	.run = run,
};
