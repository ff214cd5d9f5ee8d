/* SPDX-License-Identifier: MIT */
/* main.h - the common part of main() */
#ifndef TOOL_MAIN_H
#define TOOL_MAIN_H

#include "tool/tool.h"

/* Parse the command line and run one command of the tool. Returns the exit code of the process. */
int tool_main(const struct tool *program, int argc, char **argv);

#endif
