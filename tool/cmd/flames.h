/* SPDX-License-Identifier: MIT */
/* flames.h - write stacks to files for --svg, --speedscope, --pprof */
#ifndef TOOL_FLAMES_H
#define TOOL_FLAMES_H

#include "tool/tool.h"
#include "inspect/render/flames.h"

#define TOOL_TAKES_FLAMES \
	(TOOL_TAKES(TOOL_OPT_SVG) | TOOL_TAKES(TOOL_OPT_SPEEDSCOPE) | TOOL_TAKES(TOOL_OPT_PPROF))

/*
 * Write the requested files, each whole or not at all, and print a line for each on standard
 * output. Returns TOOL_WELL, or the exit code after a line on stderr.
 */
int tool_flames_write(const struct tool_arguments *arguments, const struct ins_flames *flames,
		      const struct ins_source *source);

#endif
