/* SPDX-License-Identifier: MIT */
/*
 * cmd_metrics.c - the numbers of one program, or of all of them, for Prometheus
 *
 * The node exporter reads what others write into its folder, at any moment: so a file appears there whole or not at all.
 * One program that does not answer must not keep the numbers of the others from being seen: it is a number itself, 0.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/metrics.h"
#include "fiberctl/reply.h"
#include "tool/draft.h"
#include "inspect/draft.h"

struct fleet {
	struct ctl_metered *all;
	size_t count;
	int64_t timeout;
	int code;
};

/* Ask over its socket. 0, or a negative errno. */
static int read_one(const struct tool_socket *socket, int64_t timeout, struct ctl_metered *ret,
		    char *why, size_t size)
{
	struct fib_wire_client client;
	int rc = fib_wire_connect(&client, socket->path, timeout);

	why[0] = 0;
	if (rc < 0)
		return rc;
	rc = ctl_meter_read(&client, &ret->meter, why, size);
	fib_wire_disconnect(&client);
	if (rc < 0)
		ctl_meter_free(&ret->meter);
	ret->answered = rc == 0;
	return rc;
}

static bool is_known(const struct fleet *fleet, pid_t pid)
{
	size_t i;

	for (i = 0; i < fleet->count; i++)
		if (fleet->all[i].pid == pid)
			return true;
	return false;
}

/* A place for one more; NULL without memory, said. */
static struct ctl_metered *add(struct fleet *fleet, pid_t pid)
{
	struct ctl_metered *all = realloc(fleet->all, (fleet->count + 1) * sizeof *all);

	if (!all) {
		fleet->code = tool_cannot("out of memory");
		return NULL;
	}
	fleet->all = all;
	all[fleet->count] = (struct ctl_metered){.pid = pid};
	return &all[fleet->count++];
}

/* One of all: those that have ended are passed over. */
static int ask_each(void *context, const struct tool_socket *socket)
{
	struct fleet *fleet = context;
	struct ctl_metered *one;
	char why[256];
	int rc;

	if (is_known(fleet, socket->pid))
		return 0;
	one = add(fleet, socket->pid);
	if (!one)
		return -1;
	rc = read_one(socket, fleet->timeout, one, why, sizeof why);
	if (rc == -ECONNREFUSED || rc == -ENOENT || rc == -ECONNRESET) {
		fleet->count--;
		tool_sockets_tidy(socket);
		return 0;
	}
	if (rc < 0 || !one->meter.counted) {
		tool_cannot("process %d: %s", (int)socket->pid,
			    rc == 0 ? "it is older than this tool, and has no numbers"
			    : rc == -ETIMEDOUT
				    ? "no answer: it is stopped, or its service thread hangs"
			    : why[0] ? why
				     : strerror(-rc));
		fleet->code = TOOL_PARTIAL;
	}
	return 0;
}

static int ask_one(struct fleet *fleet, const char *who)
{
	struct ctl_reply reply;
	struct ctl_metered *one;
	char why[256];
	int code = ctl_reply_open(&reply, who), rc;

	if (code != TOOL_WELL)
		return code;
	one = add(fleet, reply.process.pid);
	rc = one ? ctl_meter_read(&reply.client, &one->meter, why, sizeof why) : 0;
	if (!one)
		code = TOOL_CANNOT;
	else if (rc < 0)
		code = ctl_reply_refused(&reply, rc, why);
	else if (!one->meter.counted)
		code = ctl_reply_refused(
			&reply, -EOPNOTSUPP,
			"this program is older than this tool, and has no numbers");
	else
		one->answered = true;
	ctl_reply_close(&reply);
	return code;
}

/* -- writing -- */

/* Its draft has a name that the node exporter would not read (*.prom). */
static int write_file(const char *path, const struct fleet *fleet)
{
	struct ins_draft draft;
	struct ins_error error;
	int rc;

	tool_draft_guard();
	rc = ins_draft_begin(&draft, path, true, &error);
	if (rc == 0) {
		ctl_metrics_write(draft.out, fleet->all, fleet->count);
		if (fchmod(fileno(draft.out), 0644) < 0)
			rc = ins_draft_cannot(path, -errno, &error);
		rc = ins_draft_end(&draft, rc, &error);
	}
	return rc < 0 ? tool_cannot("%s", error.text) : TOOL_WELL;
}

static int write_all(const struct tool_arguments *arguments, const struct fleet *fleet)
{
	const char *path = arguments->option[TOOL_OPT_OUTPUT];
	int code = TOOL_WELL;

	if (path)
		code = write_file(path, fleet);
	else
		ctl_metrics_write(stdout, fleet->all, fleet->count);
	return code == TOOL_WELL ? tool_written(fleet->code) : code;
}

static int run(const struct tool_arguments *arguments)
{
	struct fleet fleet = {.timeout = TOOL_HELLO_TIMEOUT, .code = TOOL_WELL};
	int code = TOOL_WELL;
	size_t i;

	if (arguments->json)
		return tool_wrong(&ctl_metrics,
				  "--json: metrics are in the text format of Prometheus");
	if (arguments->option[TOOL_OPT_OUTPUT] && !arguments->option[TOOL_OPT_OUTPUT][0])
		return tool_wrong(&ctl_metrics, "--output: needs the name of a file");
	if (arguments->words)
		code = ask_one(&fleet, arguments->word[0]);
	else
		tool_sockets_each(ask_each, &fleet);
	if (code == TOOL_WELL && fleet.code != TOOL_CANNOT)
		code = write_all(arguments, &fleet);
	else if (code == TOOL_WELL)
		code = fleet.code;
	for (i = 0; i < fleet.count; i++)
		ctl_meter_free(&fleet.all[i].meter);
	free(fleet.all);
	return code;
}

const struct tool_command ctl_metrics = {
	.name = "metrics",
	.usage = "[PROCESS]",
	.summary = "numbers for Prometheus, of one or of all",
	.help = "Prints what the process has done so far in the text format that Prometheus\n"
		"reads: fibers by state and by what they wait for, spawned and ended ones, and\n"
		"for each carrier switches, steals, wake-ups, polls, time-outs and CPU time; how\n"
		"long runnable fibers waited; pinned waits, stacks and memory. Without PROCESS:\n"
		"of all processes of this user; one that does not answer has libfiber_up 0. With\n"
		"--output the file is replaced at once when all is written, so that it can be\n"
		"read at any time; its temporary name does not end in '.prom'. A timer for the\n"
		"node exporter and a dashboard for Grafana are installed: see fiberctl(1).\n",
	.least = 0,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_OUTPUT),
	.run = run,
};
