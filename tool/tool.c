/* SPDX-License-Identifier: MIT */
/* tool.c - the running tool */
#include "tool/tool.h"

const struct tool *tool;
