/* SPDX-License-Identifier: MIT */
/* cmd_leaks.c - print the fibers that nothing alive can wake */
#include <stdlib.h>
#include <string.h>

#include "fibertrace/fibertrace.h"
#include "fibertrace/leaks_before.h"
#include "inspect/render/render.h"
#include "inspect/render/render_leaks.h"
#include "tool/report.h"

#define MOST 64 /* groups in JSON */

/* The snapshot that confirms the answer; null: there is none. */
static json_t *json_before(const struct ins_leaks *leaks)
{
	const struct ins_summary *s = leaks->before;

	if (!s)
		return json_null();
	return json_pack("{s:I, s:o}", "takenNs", (json_int_t)s->taken, "host",
			 ins_json_text(s->host));
}

static int put_json(const struct ins_leaks *leaks)
{
	struct ins_source *s = leaks->look->source;
	const struct ins_lost *lost = leaks->lost;
	struct ins_json json;
	size_t i;

	ins_json_begin(&json, stdout, s->pid, s->name, s->kind, "groups");
	for (i = 0; i < leaks->groups->count && i < MOST; i++)
		ins_json_row(&json, ins_json_leak(leaks, i));
	ins_json_key(&json, "found", json_integer((json_int_t)leaks->groups->count));
	ins_json_key(&json, "lost", json_integer(lost->certain ? (json_int_t)lost->count : 0));
	ins_json_key(&json, "unsure", json_integer((json_int_t)lost->unsure));
	ins_json_key(&json, "cancellable", json_integer((json_int_t)lost->cancellable));
	ins_json_key(&json, "parked", json_integer((json_int_t)lost->parked));
	ins_json_key(&json, "moved", json_integer((json_int_t)lost->moved));
	ins_json_key(&json, "snapshot", json_before(leaks));
	ins_json_key(&json, "stopped", json_boolean(leaks->stopped));
	ins_json_key(&json, "looks", json_integer((json_int_t)lost->looks));
	ins_json_key(&json, "readBytes", json_integer((json_int_t)lost->bytes));
	ins_json_key(&json, "tookNs", json_integer(lost->took_ns));
	return ins_json_end(&json, ins_table_summary(lost->table), &s->problems);
}

static int put(const struct tool_arguments *arguments, const struct ins_leaks *leaks)
{
	struct ins_source *s = leaks->look->source;
	int code = ins_problems_lines(&s->problems) ? TOOL_PARTIAL : TOOL_WELL;

	if (arguments->json) {
		if (put_json(leaks) < 0)
			code = TOOL_PARTIAL;
	} else {
		ins_text_leaks(stdout, leaks, arguments->word[0]);
		ins_text_end(stdout, ins_table_summary(leaks->lost->table), &s->problems);
	}
	return tool_written(leaks->lost->count && leaks->lost->certain ? TOOL_FOUND : code);
}

/* The places of the lost fibers are found as `why` finds them. */
static int show(const struct tool_arguments *arguments, struct ins_source *source,
		const struct ins_lost *lost, const struct leaks_before *before)
{
	struct ins_look look = {.source = source, .single = true};
	struct ins_lost_groups groups = {0};
	const struct ins_leaks leaks = {
		.lost = lost,
		.groups = &groups,
		.look = &look,
		.stopped = arguments->option[TOOL_OPT_STOP] != NULL,
		.before = before->table ? ins_table_summary(before->table) : NULL,
	};
	int rc, code;

	look.last.table = lost->table;
	rc = ins_lost_groups(lost, &groups);
	if (rc == 0)
		rc = ins_unwinder_new(source, &look.unwinder);
	if (rc == 0)
		rc = ins_symbols_new(source->modules, &look.symbols);
	code = rc < 0 ? tool_cannot("%s", strerror(-rc)) : put(arguments, &leaks);
	ins_symbols_free(look.symbols);
	ins_unwinder_free(look.unwinder);
	free(groups.at);
	return code;
}

/* Find and show them, confirmed by the snapshot if there is one. */
static int find(const struct tool_arguments *arguments, struct ins_source *source,
		const struct leaks_before *before)
{
	const bool stop = arguments->option[TOOL_OPT_STOP];
	struct ins_error error = {""};
	struct ins_lost lost;
	int rc, code;

	rc = before->table ? ins_lost_find_since(source, before->table, &lost, &error)
			   : ins_lost_find(source, stop, &lost, &error);
	code = rc < 0 ? tool_cannot("%s", error.text) : show(arguments, source, &lost, before);
	ins_lost_drop(&lost);
	return code;
}

/* With --core, the core is the first word. */
static int run(const struct tool_arguments *arguments)
{
	struct leaks_before before = {0};
	struct ins_source *source;
	int code = tool->open(arguments, arguments->word[0], &source);

	if (code != TOOL_WELL)
		return code;
	if (arguments->option[TOOL_OPT_STOP] && ins_source_still(source))
		code = tool_wrong(&trace_leaks, "--stop: only a process can be stopped");
	if (code == TOOL_WELL && arguments->words > 1)
		code = leaks_before_open(&trace_leaks, source, arguments->word[0],
					 arguments->word[1], &before);
	if (code == TOOL_WELL)
		code = find(arguments, source, &before);
	leaks_before_drop(&before);
	ins_source_close(source);
	return code;
}

const struct tool_command trace_leaks = {
	.name = "leaks",
	.usage = "PROCESS [SNAPSHOT]",
	.summary = "fibers that nothing alive can wake",
	.help = "Finds lost fibers: they wait without a deadline for an object (a channel, a "
		"lock,\n"
		"a semaphore, ...) that only lost fibers know. So nothing will ever wake them.\n"
		"Groups that wait for each other are found too, whatever they wait for.\n"
		"\n"
		"The memory of the program is searched for pointers: from global variables,\n"
		"threads, shared memory, and the stacks of fibers that can go on, through all\n"
		"private memory. All that could be a pointer counts as one. So a lost fiber may "
		"be\n"
		"missed, and a fiber that can be woken is not reported.\n"
		"\n"
		"The program runs on. A finding is reported if all looks, up to six, agree and "
		"the\n"
		"fiber has not run in between; from the second look on, threads are stopped for a\n"
		"moment to read their registers. With --stop the program is stopped for one look.\n"
		"\n"
		"PROCESS may be a core. It has no data of epoll, so what is found is not certain.\n"
		"A snapshot has no memory. But with a SNAPSHOT from before the core, only fibers\n"
		"are listed that were in the same wait then: 'leaks SNAPSHOT --core CORE'.\n"
		"\n"
		"Exit status: 3 if fibers are lost, 0 if there are none, 1 if it is not certain.\n",
	.least = 1,
	.most = 2,
	.options = TOOL_TAKES(TOOL_OPT_STOP),
	.run = run,
};
