/* SPDX-License-Identifier: MIT */
/* tool.c - which of the two programs this is */
#include "tool/tool.h"

const struct tool *tool;
