/* SPDX-License-Identifier: MIT */
/* process.h - find the control socket for the PROCESS argument */
#ifndef TOOL_PROCESS_H
#define TOOL_PROCESS_H

#include "tool/sockets.h"
#include "inspect/model/source.h"

/* Longest wait for one part of an answer, ns. */
#define TOOL_TIMEOUT INT64_C(5000000000)

/* Limit for an answer when all processes are asked, ns. */
#define TOOL_HELLO_TIMEOUT INT64_C(1000000000)

/*
 * Find the one process that `who` names: a pid, a name, or the path of a socket; not a snapshot.
 * Returns TOOL_WELL, or tool_cannot() after a message with the cause and a remedy.
 */
int tool_process_find(const char *who, struct tool_socket *ret);

/*
 * Like tool_process_find(); sets *ret_snapshot if `who` is the path of a file, or a name that a
 * file has and no process.
 */
int tool_process_look(const char *who, struct tool_socket *ret, bool *ret_snapshot);

/* Find the process or snapshot and open it as a source. Results as for tool_process_find(). */
int tool_process_open(const char *who, struct ins_source **ret);

/* Whether a process of that id exists, of any user. */
bool tool_process_alive(pid_t pid);

/* Processes that match one name: their number and the first ones. */
#define TOOL_SEVERAL 16
struct tool_several {
	unsigned count;
	pid_t pid[TOOL_SEVERAL];
};

void tool_several_add(struct tool_several *several, pid_t pid);

/* "12, 15, 19, ...". Returns buf. */
const char *tool_several_list(const struct tool_several *several, char *buf, size_t size);

/* Print that the name must match one process. Returns tool_cannot(). */
int tool_several_say(const struct tool_several *several, const char *name);

/* Print that `who`, a snapshot, cannot be followed. Returns tool_cannot(). */
int tool_process_still(const char *who);

/*
 * The command line of a process, or its short name; "" if it cannot be read. Not escaped. Returns
 * buf.
 */
const char *tool_process_command(pid_t pid, char *buf, size_t size);

/*
 * Print that the process behind socket does not answer or refuses. rc: a negative errno; why: its
 * own words, may be NULL. Returns tool_cannot().
 */
int tool_refused(const struct tool_socket *socket, int rc, const char *why);

#endif
