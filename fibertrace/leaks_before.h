/* SPDX-License-Identifier: MIT */
/* leaks_before.h - a snapshot that confirms what a core shows */
#ifndef FIBERTRACE_LEAKS_BEFORE_H
#define FIBERTRACE_LEAKS_BEFORE_H

#include "inspect/query/table.h"
#include "tool/command.h"

struct leaks_before {
	struct ins_source *source;
	struct ins_table *table;
};

/*
 * Open the snapshot at path, and check that it is of the process of the core, and not younger. command: who
 * asks, for errors. file: the path of the core. Returns TOOL_WELL, or the exit code after a line on stderr. Drop *ret in both cases.
 */
int leaks_before_open(const struct tool_command *command, struct ins_source *core, const char *file,
		      const char *path, struct leaks_before *ret);
void leaks_before_drop(struct leaks_before *before); /* zeroed: nothing */

#endif
