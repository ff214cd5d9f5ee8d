/* SPDX-License-Identifier: MIT */
/* take.h - switch on the recorder of a process for a while and save its events */
#ifndef FIBERTRACE_TAKE_H
#define FIBERTRACE_TAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/text/error.h"

struct trace_take {
	const char *socket, *path; /* socket of the process; path of the file */
	pid_t pid;		   /* the listener at the socket; 0: unknown */
	bool replace;		   /* an existing file is replaced */
	uint32_t ring;		   /* capacity of a ring in events */
	int64_t length;		   /* ns */
	int64_t stacks_every;	   /* ns */
	bool hide;		   /* leave internal frames of stacks out of the file */
	bool verbose;		   /* report progress on stderr */
	bool json;		   /* only JSON may be on stdout */
};

struct trace_taken {
	int pid;
	char name[64];
	int64_t length; /* recorded time, ns */
	uint64_t events, lost, fibers;
	size_t looks; /* number of looks at all stacks */
	struct ins_problems problems;
};

/*
 * Record into a file until the time is over, the user interrupts, or the process ends; the file
 * exists in all three cases. Returns 0, or a negative errno with error set and no file.
 */
int trace_take(const struct trace_take *how, struct trace_taken *ret, struct ins_error *error);

#endif
