/* SPDX-License-Identifier: MIT */
/* process.h - from what was typed for PROCESS to the control socket that is meant. */
#ifndef FIBERCTL_PROCESS_H
#define FIBERCTL_PROCESS_H

#include "fiberctl/sockets.h"
#include "inspect/source.h"

/* A process without an answer within this is not waited for when all of them are asked, ns. */
#define CTL_HELLO_TIMEOUT INT64_C(1000000000)

/*
 * Find the one process that `who` names: a pid, a name, or the path of a socket; not a snapshot. TOOL_WELL, or what
 * tool_cannot() returned after it said what is missing and what would help.
 */
int ctl_process_find(const char *who, struct ctl_socket *ret);

/* The same, or *ret_snapshot: `who` is the path of a file, or a name that no process has and a file. */
int ctl_process_look(const char *who, struct ctl_socket *ret, bool *ret_snapshot);

/* Find it, or its snapshot, and open it as a source. The same results. */
int ctl_process_open(const char *who, struct ins_source **ret);

/* Say that `who`, a snapshot, cannot be followed. What tool_cannot() returns. */
int ctl_process_still(const char *who);

/* The command line of a process, or its short name; "" when it cannot be read. Not made harmless. Returns
 * buf. */
const char *ctl_process_command(pid_t pid, char *buf, size_t size);

/* Say that the process behind socket does not answer, or refuses: rc, a negative errno, or in its own words (may be
 * NULL). What tool_cannot() returns. */
int ctl_refused(const struct ctl_socket *socket, int rc, const char *why);

#endif
