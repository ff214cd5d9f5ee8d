/* SPDX-License-Identifier: MIT */
/* process.h - from what was typed for PROCESS to the control socket that is meant. */
#ifndef TOOL_PROCESS_H
#define TOOL_PROCESS_H

#include "tool/sockets.h"
#include "inspect/model/source.h"

/* Longest wait for any one piece of an answer, ns. */
#define TOOL_TIMEOUT INT64_C(5000000000)

/* A process without an answer within this is not waited for when all of them are asked, ns. */
#define TOOL_HELLO_TIMEOUT INT64_C(1000000000)

/*
 * Find the one process that `who` names: a pid, a name, or the path of a socket; not a snapshot. TOOL_WELL, or what
 * tool_cannot() returned after it said what is missing and what would help.
 */
int tool_process_find(const char *who, struct tool_socket *ret);

/* The same, or *ret_snapshot: `who` is the path of a file, or a name that no process has and a file. */
int tool_process_look(const char *who, struct tool_socket *ret, bool *ret_snapshot);

/* Find it, or its snapshot, and open it as a source. The same results. */
int tool_process_open(const char *who, struct ins_source **ret);

/* Whether there is a process of that id, ours or not. */
bool tool_process_alive(pid_t pid);

/* Processes that one name may mean: how many, and the first of them. */
#define TOOL_SEVERAL 16
struct tool_several {
	unsigned count;
	pid_t pid[TOOL_SEVERAL];
};

void tool_several_add(struct tool_several *several, pid_t pid);

/* "12, 15, 19, ...". Returns buf. */
const char *tool_several_list(const struct tool_several *several, char *buf, size_t size);

/* Say that it must be one. What tool_cannot() returns. */
int tool_several_say(const struct tool_several *several, const char *name);

/* Say that `who`, a snapshot, cannot be followed. What tool_cannot() returns. */
int tool_process_still(const char *who);

/* The command line of a process, or its short name; "" when it cannot be read. Not made harmless. Returns
 * buf. */
const char *tool_process_command(pid_t pid, char *buf, size_t size);

/* Say that the process behind socket does not answer, or refuses: rc, a negative errno, or in its own words (may be
 * NULL). What tool_cannot() returns. */
int tool_refused(const struct tool_socket *socket, int rc, const char *why);

#endif
