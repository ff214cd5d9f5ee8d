/* SPDX-License-Identifier: MIT */
/* sockets.h - find control sockets and the process that listens at each */
#ifndef TOOL_SOCKETS_H
#define TOOL_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tool/socket.h"

/* Called for each socket with a listener. A nonzero result stops the search and is returned. */
typedef int tool_socket_fn(void *context, const struct tool_socket *socket);

/*
 * Search the folders of this user's programs, for root those of all users, and ask the kernel for
 * the listener of each socket. Sockets without a listener in this user's folders are removed.
 * Untrusted sockets and those beyond the limits are left out, with lines on stderr once.
 */
int tool_sockets_each(tool_socket_fn *fn, void *context);

/*
 * What the last search left out because of its limits: "1,744 folders of other users: ..."; "":
 * nothing.
 */
const char *tool_sockets_left(void);

/* The folders, for a message: "A, B, C". Returns buf. */
const char *tool_sockets_places(char *buf, size_t size);

/*
 * Find the socket of process pid: in every folder, under any of its ids, and at the path in its
 * environment; without limits. False: there is none. Then ret->path is "", or a socket of that name
 * with another listener in ret->uid and ret->pid; pid -1: no listener.
 */
bool tool_sockets_of(pid_t pid, struct tool_socket *ret);

/* Fill in the socket at a given path and its listener, if the kernel reports it. */
void tool_sockets_at(const char *path, struct tool_socket *ret);

#endif
