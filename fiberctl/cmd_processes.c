/* SPDX-License-Identifier: MIT */
/*
 * cmd_processes.c - fiberctl without a command: list the programs that can be asked
 *
 * A program that died without cleaning up leaves its socket; it is not listed and the socket is
 * removed. A program that exists but does not answer is listed as such, because it may be the one
 * that the user looks for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/policy.h"
#include "fiberctl/process_row.h"
#include "fiberctl/verdict.h"
#include "tool/process.h"
#include "inspect/render/render.h"
#include "inspect/text/escape.h"
#include "tool/report.h"
#include "tool/round.h"

struct table {
	bool json;
	struct ins_json out;
	struct ins_problems problems;
	struct ins_summary summary; /* of processes */
};

static void head(struct table *t)
{
	if (!t->json && !t->summary.total)
		printf("%10s %10s %8s %-8s %-14s %s\n", "PID", "FIBERS", "CARRIERS", "POLICY",
		       "VERDICT", "COMMAND");
}

static void put(struct table *t, const struct fib_wire_process *p, const struct tool_socket *socket)
{
	char command[256], clean[sizeof command * 4], pid[16] = "-", verdict[64];

	ctl_verdict(socket, verdict, sizeof verdict);
	if (t->json) {
		ins_json_row(&t->out, ctl_process_row(p, socket, verdict));
		return;
	}
	ctl_process_describe(p, socket, command, sizeof command);
	if (socket->pid)
		snprintf(pid, sizeof pid, "%d", (int)socket->pid);
	printf("%10s %10" PRIu64 " %8u %-8s %-14s %s\n", pid, p->fibers, p->carriers,
	       ctl_policy_name(p->policy), verdict,
	       ins_escape_quoted(command, clean, sizeof clean));
}

static const char *reason(int rc)
{
	switch (rc) {
	case -ETIMEDOUT:
		return "no answer: it is stopped, or its service thread hangs; try fibertrace";
	case -EMSGSIZE:
		return "it announces a longer frame than any answer has: left out";
	case -EPROTO:
		return "its answer makes no sense: left out";
	default:
		return strerror(-rc);
	}
}

static void take(struct table *t, const struct tool_asked *one, struct fib_wire_process *process)
{
	char who[128];

	if (one->rc == -ECONNREFUSED || one->rc == -ENOENT || one->rc == -ESTALE) {
		tool_sockets_tidy(&one->socket);
		return;
	}
	if (one->rc == 0 && !tool_socket_says(&one->socket, process))
		return;
	head(t);
	t->summary.total++;
	if (one->rc == 0) {
		t->summary.shown++;
		put(t, process, &one->socket);
		return;
	}
	tool_socket_who(&one->socket, who, sizeof who);
	if (one->rc == -ETIME)
		tool_left_out(&one->socket);
	if (one->rc == -ETIME && t->json)
		ins_problems_add(&t->problems, "%s: its answer does not end: left out", who);
	else if (one->rc != -ETIME)
		ins_problems_add(&t->problems, "%s: %s", who, reason(one->rc));
}

static int ask_all(struct table *t)
{
	struct fib_wire_process *process = NULL;
	struct tool_round round;
	size_t i;
	int rc = tool_round_gather(&round);

	if (rc == 0 && round.count) {
		process = tool_round_hello(&round, TOOL_HELLO_TIMEOUT);
		rc = process ? 0 : -ENOMEM;
	}
	for (i = 0; rc == 0 && i < round.count; i++)
		take(t, &round.all[i], &process[i]);
	free(process);
	tool_round_free(&round);
	return rc;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int run(const struct tool_arguments *arguments)
{
	struct table t = {.json = arguments->json};
	char text[1024];
	int64_t begin = now();
	size_t i, lines;

	if (t.json)
		ins_json_begin(&t.out, stdout, 0, "", "control", "processes");
	if (ask_all(&t) < 0)
		ins_problems_add(&t.problems, "out of memory");
	t.summary.sampled_ns = now() - begin;
	/* For text, a line is on stderr. */
	if (t.json && tool_sockets_left()[0])
		ins_problems_add(&t.problems, "left out: %s", tool_sockets_left());
	lines = ins_problems_lines(&t.problems);
	if (t.json)
		ins_json_end(&t.out, &t.summary, &t.problems);
	for (i = 0; !t.json && i < lines; i++)
		printf("incomplete: %s\n", ins_problems_text(&t.problems, i, text, sizeof text));
	if (!t.json && !t.summary.total)
		printf("no process with a control socket in %s\n",
		       tool_sockets_places(text, sizeof text));
	ins_problems_free(&t.problems);
	return tool_written(lines || tool_sockets_left()[0] ? TOOL_PARTIAL : TOOL_WELL);
}

const struct tool_command ctl_processes = {
	.usage = "",
	.summary = "List the programs that can be asked.",
	.run = run,
};
