/* SPDX-License-Identifier: MIT */
/* sockets.h - where control sockets are, and which process listens at each. See sockets.c and socket_of.c. */
#ifndef TOOL_SOCKETS_H
#define TOOL_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tool/socket.h"

/* Called for each socket at which a process listens. Anything but 0 ends the search, which then returns it. */
typedef int tool_socket_fn(void *context, const struct tool_socket *socket);

/*
 * Look through the folders where the programs of this user put their sockets, for root those of every user, and ask
 * the kernel who listens at each socket. Sockets of this user's folders at which no process listens are removed. What cannot be
 * trusted, and what goes beyond the limits, is left out, with lines on stderr that say so once.
 */
int tool_sockets_each(tool_socket_fn *fn, void *context);

/* What the last search left out because of its limits: "1,744 folders of other users: ..."; "": nothing. */
const char *tool_sockets_left(void);

/* The folders, for a message: "A, B, C". Returns buf. */
const char *tool_sockets_places(char *buf, size_t size);

/*
 * Find the socket at which process pid listens: in every folder, under any of its ids, and where its environment says; no limit
 * applies. False: there is none. Then ret->path is "", or a socket that has its name: ret->uid and ret->pid say who listens there
 * instead, pid -1: no process does.
 */
bool tool_sockets_of(pid_t pid, struct tool_socket *ret);

/* The socket at a path that was given: fills in who listens there, as far as the kernel tells. */
void tool_sockets_at(const char *path, struct tool_socket *ret);

#endif
