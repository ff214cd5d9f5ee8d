/* SPDX-License-Identifier: MIT */
/* sockets.h - where control sockets are, and who answers on them. */
#ifndef TOOL_SOCKETS_H
#define TOOL_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "wire/wire.h"

#define TOOL_PATH 4096

struct tool_socket {
	pid_t pid;   /* as the file's name says */
	uid_t owner; /* of the folder */
	char path[TOOL_PATH];
};

/* Called for each socket found. Anything but 0 ends the search, which then returns it. */
typedef int tool_socket_fn(void *context, const struct tool_socket *socket);

/*
 * Look through the folders where the programs of this user put their sockets, for root those of every user. A
 * folder that cannot be trusted (a link, or not its user's own) is passed over with a line on stderr.
 */
int tool_sockets_each(tool_socket_fn *fn, void *context);

/* The same folders, for a message: "A, B, C". Returns buf. */
const char *tool_sockets_places(char *buf, size_t size);

/* The socket of process pid where those folders or its own environment say it is. False: none. */
bool tool_sockets_of(pid_t pid, struct tool_socket *ret);

/* Ask who is there. 0, or a negative errno: -ECONNREFUSED when its process has ended, -ETIMEDOUT when it
 * does not answer. */
int tool_hello(const char *path, int64_t timeout_ns, struct fib_wire_process *ret);

/* Remove a socket that a process left behind, when it is ours and its process is gone. */
bool tool_sockets_tidy(const struct tool_socket *socket);

#endif
