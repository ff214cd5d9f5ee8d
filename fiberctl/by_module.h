/* SPDX-License-Identifier: MIT */
/* by_module.h - the fibers of one library of a process, read from its memory */
#ifndef FIBERCTL_BY_MODULE_H
#define FIBERCTL_BY_MODULE_H

#include "tool/tool.h"

/*
 * Open the memory of the process that `who` names, with the fibers of the module that --module
 * names: a file name or a path. Returns TOOL_WELL, or the exit code after a message with the cause.
 */
int ctl_by_module_open(const struct tool_arguments *arguments, const char *who,
		       struct ins_source **ret);

#endif
