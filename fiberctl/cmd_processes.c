/* SPDX-License-Identifier: MIT */
/*
 * cmd_processes.c - fiberctl alone: the programs that may be asked
 *
 * A program that has ended without cleaning up leaves its socket; nobody can ask it any more, so it is not
 * shown and the socket is removed. One that is there and does not answer is shown as such: it may be the very
 * one that is looked for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/policy.h"
#include "tool/process.h"
#include "inspect/render/render.h"
#include "inspect/text/plain.h"

struct table {
	bool json;
	struct ins_json out;
	struct ins_problems problems;
	struct ins_summary summary; /* of processes */
};

static void head(struct table *t)
{
	if (!t->json && !t->summary.total)
		printf("%10s %10s %8s %-8s %s\n", "PID", "FIBERS", "CARRIERS", "POLICY", "COMMAND");
}

static void put(struct table *t, const struct fib_wire_process *p, pid_t pid)
{
	char command[256], clean[sizeof command * 4];

	tool_process_command(pid, command, sizeof command);
	if (!command[0])
		snprintf(command, sizeof command, "%s", p->name);
	if (t->json) {
		ins_json_row(&t->out, json_pack("{s:i, s:o, s:I, s:i, s:s, s:o}", "pid", (int)pid,
						"name", ins_json_text(p->name), "fibers",
						(json_int_t)p->fibers, "carriers", (int)p->carriers,
						"policy", ctl_policy_name(p->policy), "command",
						ins_json_text(command)));
		return;
	}
	printf("%10d %10" PRIu64 " %8u %-8s %s\n", (int)pid, p->fibers, p->carriers,
	       ctl_policy_name(p->policy), ins_plain_quoted(command, clean, sizeof clean));
}

static int ask(void *context, const struct tool_socket *socket)
{
	struct fib_wire_process process;
	struct table *t = context;
	int rc = tool_hello(socket->path, TOOL_HELLO_TIMEOUT, &process);

	if (rc == -ECONNREFUSED || rc == -ENOENT) {
		tool_sockets_tidy(socket);
		return 0;
	}
	head(t);
	t->summary.total++;
	if (rc < 0) {
		ins_problems_add(&t->problems, "process %d: %s", (int)socket->pid,
				 rc == -ETIMEDOUT
					 ? "no answer: it is stopped, or its service thread hangs; "
					   "try fibertrace"
					 : strerror(-rc));
		return 0;
	}
	t->summary.shown++;
	put(t, &process, socket->pid);
	return 0;
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
	tool_sockets_each(ask, &t);
	t.summary.sampled_ns = now() - begin;
	lines = ins_problems_lines(&t.problems);
	if (t.json)
		ins_json_end(&t.out, &t.summary, &t.problems);
	for (i = 0; !t.json && i < lines; i++)
		printf("incomplete: %s\n", ins_problems_text(&t.problems, i, text, sizeof text));
	if (!t.json && !t.summary.total)
		printf("no process with a control socket in %s\n",
		       tool_sockets_places(text, sizeof text));
	ins_problems_free(&t.problems);
	return tool_written(lines ? TOOL_PARTIAL : TOOL_WELL);
}

const struct tool_command ctl_processes = {
	.usage = "",
	.summary = "List the programs that can be asked.",
	.run = run,
};
