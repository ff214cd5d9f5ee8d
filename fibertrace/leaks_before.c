/* SPDX-License-Identifier: MIT */
/*
 * leaks_before.c - a snapshot that confirms what a core shows
 *
 * A wrong pair is refused: the fibers of another process have ids too. So is a snapshot from after the
 * core, as it says nothing about what led to the core.
 */
#include "fibertrace/leaks_before.h"

#include <string.h>
#include <sys/stat.h>

#include "inspect/leaks/lost_before.h"
#include "inspect/model/same_process.h"
#include "inspect/source/source.h"
#include "inspect/text/escape.h"
#include "tool/report.h"

/* When the file was last written, ns of CLOCK_REALTIME; 0: unknown. */
static int64_t written(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static int check(struct ins_source *core, const char *file, const struct leaks_before *before,
		 const char *name)
{
	const struct ins_request request = {.modules = true};
	struct ins_error error = {""};
	struct ins_table *table;
	bool younger;
	const char *differs = ins_same_process_differs(core, before->source);

	if (differs)
		return tool_cannot("%s: is of %s than the core; give a snapshot that 'fiberctl "
				   "snapshot' took of process %d before the core was written",
				   name, differs, (int)core->pid);
	if (!ins_table_count(before->table))
		return tool_cannot("%s: has no fibers to compare with", name);
	if (ins_table_read(core, &request, &error, &table) < 0)
		return tool_cannot("%s", error.text);
	younger = ins_lost_before_is_younger(before->table, table, written(file));
	ins_table_free(table);
	if (younger)
		return tool_cannot("%s: was taken after the core; give a snapshot from before it, "
				   "or the core alone",
				   name);
	return TOOL_WELL;
}

int leaks_before_open(const struct tool_command *command, struct ins_source *core, const char *file,
		      const char *path, struct leaks_before *ret)
{
	const struct ins_request request = {.modules = true};
	struct ins_error error = {""};
	char name[256];

	*ret = (struct leaks_before){NULL, NULL};
	if (strcmp(core->kind, "core") != 0)
		return tool_wrong(command,
				  "%s: a snapshot confirms only what a core shows: give the core "
				  "with --core",
				  ins_escape(path, name, sizeof name));
	if (ins_source_open_snapshot(path, &error, &ret->source) < 0 ||
	    ins_table_read(ret->source, &request, &error, &ret->table) < 0)
		return tool_cannot("%s", error.text);
	return check(core, file, ret, ins_escape(path, name, sizeof name));
}

void leaks_before_drop(struct leaks_before *before)
{
	ins_table_free(before->table);
	if (before->source)
		ins_source_close(before->source);
	*before = (struct leaks_before){NULL, NULL};
}
