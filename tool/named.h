/* SPDX-License-Identifier: MIT */
/* named.h - find a process by name, with or without a control socket */
#ifndef TOOL_NAMED_H
#define TOOL_NAMED_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Resolve `who`, a word without '/', for tools that read memory: *ret is the process of that id or
 * name, or 0 for the file. file: a file of that name exists in the current directory. As with
 * control sockets, a process takes precedence; ./NAME is the file. any: if no process with fibers
 * has that name and there is no such file, one without fibers will do. Returns TOOL_WELL, or the
 * exit code after a message why it is neither.
 */
int tool_named_look(const char *who, bool file, bool any, pid_t *ret);

/*
 * The same for a tool that reads no files but refuses them: a process whose memory cannot be read
 * takes precedence over the file too.
 */
int tool_named_process(const char *who, bool file, pid_t *ret);

#endif
