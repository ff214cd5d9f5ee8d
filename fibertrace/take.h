/* SPDX-License-Identifier: MIT */
/* take.h - switching the flight recorder of a process on for a while, and keeping what it notes. */
#ifndef FIBERTRACE_TAKE_H
#define FIBERTRACE_TAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/text/error.h"

struct trace_take {
	const char *socket, *path; /* of the process; of the file */
	pid_t pid;		   /* that listens at the socket; 0: not known */
	bool replace;		   /* the file may be there */
	uint32_t ring;		   /* events a ring is to hold */
	int64_t length;		   /* ns */
	int64_t stacks_every;	   /* ns */
	bool verbose;		   /* say on stderr what is done */
	bool json;		   /* nothing but an answer may be on stdout */
};

struct trace_taken {
	int pid;
	char name[64];
	int64_t length; /* ns that were recorded */
	uint64_t events, lost, fibers;
	size_t looks; /* at all stacks */
	struct ins_problems problems;
};

/* Record into a file until the time is over, somebody interrupts us or the process ends; the file is there in all three cases.
 * 0, or a negative errno with error set: no file. */
int trace_take(const struct trace_take *how, struct trace_taken *ret, struct ins_error *error);

#endif
