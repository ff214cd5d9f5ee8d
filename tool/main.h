/* SPDX-License-Identifier: MIT */
/* main.h - what main() of each tool calls. */
#ifndef TOOL_MAIN_H
#define TOOL_MAIN_H

#include "tool/tool.h"

/* Take the command line apart and run one command of that tool. Returns the exit code of the process. */
int tool_main(const struct tool *program, int argc, char **argv);

#endif
