/* SPDX-License-Identifier: MIT */
/*
 * why_since.c - an older snapshot that why compares a program with
 *
 * Fibers are compared by their ids, which say nothing about another process or another run of the
 * program (model/same_process.h), or another host.
 */
#include "tool/cmd/why_since.h"

#include <string.h>
#include <unistd.h>

#include "inspect/model/same_process.h"
#include "inspect/source/source.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "inspect/why/rules.h"
#include "tool/report.h"
#include "tool/tool.h"

/* The clock of the process when it was read; 0: it has no fibers. */
static int64_t now_of(struct ins_table *table)
{
	struct ins_fiber fiber = {.now = 0};

	if (ins_table_count(table))
		ins_table_get(table, 0, &fiber);
	return fiber.now;
}

static bool same_host(const struct ins_look *look, const char *since)
{
	const char *host = ins_table_summary(look->last.table)->host;
	char here[256] = "";

	if (!host && look->pid && gethostname(here, sizeof here - 1) == 0)
		host = here;
	return !host || !since || !strcmp(host, since);
}

/* The age of the snapshot, in look->since_ago. */
static int check(struct ins_look *look, struct ins_source *since, const char *name)
{
	char text[32];

	if (ins_same_process_differs(look->source, since) ||
	    !same_host(look, ins_table_summary(look->since)->host))
		return tool_cannot(
			"%s: is from another process, or from another run of the program", name);
	if (!ins_table_count(look->since))
		return tool_cannot("%s: has no fibers to compare with", name);
	look->since_ago = now_of(look->last.table) - now_of(look->since);
	if (look->since_ago < 0)
		return tool_cannot("%s: is newer than what it is compared with", name);
	if (look->since_ago < INS_GROWTH_NS)
		return tool_cannot("%s: is only %s older: growth shows after 2s", name,
				   ins_duration_text(look->since_ago, text, sizeof text));
	return TOOL_WELL;
}

int tool_why_since(struct ins_look *look, const char *path)
{
	const struct ins_request request = {.modules = true};
	struct ins_error error = {""};
	struct ins_source *since;
	char name[256];
	int code;

	if (ins_source_open_snapshot(path, &error, &since) < 0)
		return tool_cannot("%s", error.text);
	if (ins_table_read(since, &request, &error, &look->since) < 0)
		code = tool_cannot("%s", error.text);
	else
		code = check(look, since, ins_escape(path, name, sizeof name));
	ins_source_close(since);
	return code;
}
