/* SPDX-License-Identifier: MIT */
/* named.h - a process by its name, whether or not it has a control socket. */
#ifndef TOOL_NAMED_H
#define TOOL_NAMED_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * What `who`, a word without a '/', means where memory is read: *ret the process of that id or name, or 0, which is the file.
 * file: whether one lies here that could be meant. A process goes first, as with a control socket: who means the file has ./NAME.
 * TOOL_WELL, or the exit code after saying why it is neither.
 */
int tool_named_look(const char *who, bool file, pid_t *ret);

#endif
