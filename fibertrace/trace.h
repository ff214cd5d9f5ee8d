/* SPDX-License-Identifier: MIT */
/* trace.h - one dump of a source's backtraces. */
#ifndef FIBERTRACE_TRACE_H
#define FIBERTRACE_TRACE_H

#include <stdbool.h>

#include "inspect/source.h"

/* Exit codes, a promise to scripts. */
enum { TRACE_WELL = 0, TRACE_PARTIAL = 1, TRACE_CANNOT = 2, TRACE_USAGE = 64 };

struct trace_options {
	bool each; /* every fiber, not groups */
	bool json;
};

/* Print the backtraces of every fiber of source to stdout; errors go to stderr. The exit code. */
int trace_dump(struct ins_source *source, const struct trace_options *options);

#endif
