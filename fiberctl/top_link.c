/* SPDX-License-Identifier: MIT */
/*
 * top_link.c - look at one process repeatedly
 *
 * One connection serves all looks. But a program drops a client that is idle for ten seconds, and
 * drops the longest idle one if others need its place. So a connection that was idle for a while,
 * or is lost before a fiber has arrived, is opened again once. If that fails too, the process has
 * ended.
 *
 * A snapshot has one look; counts of its fibers are since their spawn.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fiberctl/reply.h"
#include "fiberctl/top.h"
#include "fiberctl/verdict.h"
#include "inspect/source/source.h"
#include "tool/process.h"
#include "inspect/render/render.h"
#include "inspect/text/access.h"
#include "inspect/process/silence.h"

#define IDLE	      INT64_C(5000000000)
#define VERDICT_SHARE 120

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void disconnect(struct ctl_top *top)
{
	ins_symbols_free(top->symbols);
	ins_unwinder_free(top->unwinder);
	if (top->source) {
		ins_source_close(top->source);
		fib_wire_disconnect(&top->client);
		ins_snapshot_close(top->snapshot);
	}
	top->symbols = NULL;
	top->unwinder = NULL;
	top->source = NULL;
	top->snapshot = NULL;
}

static int open_file(struct ctl_top *top, struct ins_error *error)
{
	const char *path = top->socket.path;
	int rc = ins_source_open_snapshot(path, error, &top->source);

	if (rc < 0)
		return rc;
	rc = ins_snapshot_open(path, error, &top->snapshot);
	if (rc == 0)
		ctl_reply_recall(&top->client, top->snapshot);
	else
		disconnect(top);
	return rc;
}

static int connect_to(struct ctl_top *top, struct ins_error *error)
{
	const char *path = top->socket.path;
	char why[INS_ACCESS_EXPLAIN_SIZE];
	int rc = ins_source_open_control(path, top->socket.pid, TOOL_TIMEOUT, error, &top->source);

	if (rc < 0)
		return rc;
	rc = fib_wire_connect(&top->client, path, TOOL_TIMEOUT);
	if (rc == 0)
		rc = tool_socket_same(&top->socket, &top->client);
	if (rc < 0) {
		disconnect(top);
		return ins_error_set(
			error, rc, "%s: %s", path,
			ins_access_explain(path, INS_ACCESS_CONNECT, rc, why, sizeof why));
	}
	return 0;
}

/* Whether an error means that the other end closed the connection. */
static bool dropped(int rc)
{
	return rc == -ECONNRESET || rc == -EPIPE;
}

static int ended(const struct ctl_top *top, int rc, struct ins_error *error)
{
	char why[INS_ACCESS_EXPLAIN_SIZE];

	if (!top->pid || (!dropped(rc) && rc != -ECONNREFUSED && rc != -ENOENT))
		return rc;
	if (ins_process_is_alive(top->pid)) {
		ins_process_silence(top->socket.path, top->pid, rc, why, sizeof why);
		return ins_error_set(error, rc, "process %d: %s", (int)top->pid, why);
	}
	return ins_error_set(error, rc, "process %d: it has ended", (int)top->pid);
}

/*
 * Run ask() over the connection, reconnecting if needed. ask() sets *ret_begun when it cannot be
 * repeated. Answers of another process that took the place are not accepted.
 */
typedef int ask_fn(struct ctl_top *top, void *context, bool *ret_begun, struct ins_error *error);

static int over_link(struct ctl_top *top, ask_fn *ask, void *context, struct ins_error *error)
{
	bool begun = false, again = top->source != NULL;
	int rc = 0;

	if (top->source && !top->filed && now_ns() - top->used > IDLE)
		disconnect(top);
	for (;;) {
		if (!top->source)
			rc = top->filed ? open_file(top, error) : connect_to(top, error);
		if (rc == 0)
			rc = ask(top, context, &begun, error);
		if (!dropped(rc) || begun || !again)
			break;
		again = false;
		disconnect(top);
		rc = 0;
	}
	top->used = now_ns();
	if (rc < 0 || !top->source)
		return ended(top, rc, error);
	if (top->pid && top->source->pid != top->pid)
		return ended(top, -ECONNREFUSED, error);
	top->pid = top->source->pid;
	memcpy(top->name, top->source->name, sizeof top->name);
	return rc;
}

/* -- a look -- */

struct look {
	struct ctl_top *top;
	bool *begun;
};

/* Symbols are created here because the first fiber brings the modules. */
static int take(void *context, const struct ins_fiber *fiber)
{
	struct look *look = context;
	struct ctl_top *top = look->top;
	struct ins_sight sight;
	unsigned i;
	int rc;

	*look->begun = true;
	if (!top->symbols && ins_symbols_new(top->source->modules, &top->symbols) < 0)
		return -ENOMEM;
	sight.layout = &top->source->layout;
	sight.symbols = top->symbols;
	sight.fiber = fiber;
	rc = ins_watch_add(top->watch, &sight);
	for (i = 0; rc == 0 && i < top->alsos; i++)
		rc = ins_watch_add(top->also[i].watch, &sight);
	return rc;
}

/* A verdict reads all fibers once more, so it takes at most a 120th of a CPU. */
static void judge(struct ctl_top *top)
{
	const clock_t began = clock();
	int64_t cpu;

	if (top->filed || now_ns() < top->verdict_expires)
		return;
	ctl_verdict_of(top->source, top->socket.pid, top->verdict, sizeof top->verdict);
	cpu = (int64_t)(clock() - began) * (1000000000 / CLOCKS_PER_SEC);
	top->verdict_cpu += cpu;
	top->verdict_expires = now_ns() + VERDICT_SHARE * cpu;
}

static int look(struct ctl_top *top, void *context, bool *ret_begun, struct ins_error *error)
{
	struct look look = {top, ret_begun};
	struct ins_request request = top->extra;
	struct ctl_stats carriers = {.count = 0};
	unsigned i;
	int rc;

	(void)context;
	ins_query_wants(&top->query, &request);
	for (i = 0; i < top->alsos; i++)
		ins_query_wants(top->also[i].query, &request);
	/* Sent once: later fields and backtraces use the same modules. */
	request.modules = !top->symbols;
	judge(top);
	ins_problems_free(&top->source->problems);
	/* First, because it can be repeated. */
	rc = ctl_top_carriers_read(top, &carriers, error);
	if (rc == 0)
		rc = ins_source_read(top->source, &request, take, &look, &top->summary, error);
	if (rc == 0)
		ctl_top_carriers_keep(top, &carriers);
	else
		ctl_stats_free(&carriers);
	return rc < 0 && !error->text[0] ? ins_error_set(error, rc, "%s", strerror(-rc)) : rc;
}

int ctl_top_look(struct ctl_top *top, struct ins_error *error)
{
	unsigned i;
	int rc;

	*error = (struct ins_error){""};
	ins_watch_begin(top->watch, &top->query);
	for (i = 0; i < top->alsos; i++)
		ins_watch_begin(top->also[i].watch, top->also[i].query);
	rc = over_link(top, look, NULL, error);
	ins_watch_end(top->watch);
	for (i = 0; i < top->alsos; i++)
		ins_watch_end(top->also[i].watch);
	return rc;
}

static int judge_only(struct ctl_top *top, void *context, bool *ret_begun, struct ins_error *error)
{
	(void)context;
	(void)ret_begun;
	(void)error;
	judge(top);
	return 0;
}

int ctl_top_judge(struct ctl_top *top, struct ins_error *error)
{
	*error = (struct ins_error){""};
	return over_link(top, judge_only, NULL, error);
}

/* -- a backtrace -- */

struct backtrace {
	uint64_t id;
	FILE *out;
	bool *begun;
	struct ctl_top *top;
};

static int take_stack(void *context, const struct ins_fiber *fiber)
{
	struct backtrace *b = context;
	struct ctl_top *top = b->top;
	struct ins_walk walk;

	*b->begun = true;
	if (!top->symbols && ins_symbols_new(top->source->modules, &top->symbols) < 0)
		return -ENOMEM;
	if (!top->unwinder && ins_unwinder_new(top->source, &top->unwinder) < 0)
		return -ENOMEM;
	ins_unwinder_hide(top->unwinder, true);
	ins_unwind(top->unwinder, fiber, &walk);
	ins_text_header(b->out, &top->source->layout, fiber);
	ins_text_frames(b->out, top->symbols, &walk);
	return 0;
}

static int backtrace(struct ctl_top *top, void *context, bool *ret_begun, struct ins_error *error)
{
	struct backtrace *b = context;
	const struct ins_request request = {.id = b->id, .stacks = true};
	struct ins_summary summary;

	b->begun = ret_begun;
	return ins_source_read(top->source, &request, take_stack, b, &summary, error);
}

int ctl_top_backtrace(struct ctl_top *top, uint64_t id, FILE *out, struct ins_error *error)
{
	struct backtrace b = {.id = id, .out = out, .top = top};

	*error = (struct ins_error){""};
	return over_link(top, backtrace, &b, error);
}

void ctl_top_close(struct ctl_top *top)
{
	disconnect(top);
	ctl_stats_free(&top->before);
	ctl_stats_free(&top->now);
	ins_query_drop(&top->query);
	ins_watch_free(top->watch);
}
