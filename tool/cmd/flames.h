/* SPDX-License-Identifier: MIT */
/* flames.h - write stacks to files for --svg, --speedscope, --pprof, -o */
#ifndef TOOL_FLAMES_H
#define TOOL_FLAMES_H

#include "tool/tool.h"
#include "inspect/render/flames.h"

#define TOOL_TAKES_FLAMES \
	(TOOL_TAKES(TOOL_OPT_SVG) | TOOL_TAKES(TOOL_OPT_SPEEDSCOPE) | TOOL_TAKES(TOOL_OPT_PPROF))

/*
 * Write the requested files, each whole or not at all, and print a line for each on standard
 * output. Of a profile, -o FILE is the same as --pprof FILE. A file "-" is standard output, which
 * then gets nothing else. Returns TOOL_WELL, or the exit code after a line on stderr.
 */
int tool_flames_write(const struct tool_arguments *arguments, const struct ins_flames *flames,
		      const struct ins_source *source);

/* How many files go to standard output. */
unsigned tool_flames_to_output(const struct tool_arguments *arguments);

#endif
