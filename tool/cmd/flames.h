/* SPDX-License-Identifier: MIT */
/* flames.h - stacks into files of those who draw them: --svg, --speedscope, --pprof. */
#ifndef TOOL_FLAMES_H
#define TOOL_FLAMES_H

#include "tool/tool.h"
#include "inspect/render/flames.h"

#define TOOL_TAKES_FLAMES \
	(TOOL_TAKES(TOOL_OPT_SVG) | TOOL_TAKES(TOOL_OPT_SPEEDSCOPE) | TOOL_TAKES(TOOL_OPT_PPROF))

/* Write those that were asked for, each whole or not at all, and a line for each on standard output. TOOL_WELL, or the exit
 * code after a line on stderr. */
int tool_flames_write(const struct tool_arguments *arguments, const struct ins_flames *flames,
		      const struct ins_source *source);

#endif
