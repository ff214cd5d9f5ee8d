/* SPDX-License-Identifier: MIT */
/* fibertrace.h - the commands that only fibertrace has */
#ifndef FIBERTRACE_FIBERTRACE_H
#define FIBERTRACE_FIBERTRACE_H

#include "tool/tool.h"

/* The description of this tool. */
extern const struct tool fibertrace;

extern const struct tool_command trace_dump, trace_to_core, trace_record, trace_export,
	trace_report, trace_leaks;

#endif
