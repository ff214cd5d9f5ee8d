/* SPDX-License-Identifier: MIT */
/* socket.h - one control socket: who listens there, and whether it is who was found. See socket.c. */
#ifndef TOOL_SOCKET_H
#define TOOL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "wire/client.h"
#include "wire/wire.h"

#define TOOL_PATH 4096

struct tool_socket {
	pid_t pid; /* of the process that listens, as the kernel says; 0: it cannot be seen from our pid namespace */
	pid_t named; /* as the file's name says: what the process may call itself; 0: unknown */
	uid_t uid;   /* of the process */
	uid_t owner; /* of the folder */
	bool known;  /* pid and uid are what the kernel says */
	char path[TOOL_PATH];
};

/* "process 12", or "process 1 of another pid namespace (uid 0)". Returns buf. */
const char *tool_socket_who(const struct tool_socket *socket, char *buf, size_t size);

/* The id in a socket's file name, "12.sock"; 0: it is none. */
pid_t tool_socket_number(const char *name);

/* Who listens there, for a line that says why it is not shown, with what is to follow: "process 12 \"x\" (uid 3) listens
 * there, and not process 15". Returns buf. */
const char *tool_socket_instead(const struct tool_socket *socket, const char *follows, char *buf,
				size_t size);

/* One line on stderr: the socket is left out, and why. */
void tool_socket_pass_over(const struct tool_socket *socket, const char *why);

/*
 * Compare the process id in an answer with the process that listens, and put the one that the kernel says in its place. False: it
 * belongs to another user and claims to be another process; a line on stderr said so, and it is to be left out.
 */
bool tool_socket_says(const struct tool_socket *socket, struct fib_wire_process *process);

/* Ask who is there. 0, or a negative errno: -ECONNREFUSED when no process listens, -ETIMEDOUT when it
 * does not answer, -ESTALE when another process listens there by now. */
int tool_hello(const struct tool_socket *socket, int64_t timeout_ns, struct fib_wire_process *ret);

/* Whether the process at the other end of a connection is the one that was found: 0, or -ESTALE. Where the path was changed since,
 * what is asked of one process would be asked of another. */
int tool_socket_same(const struct tool_socket *socket, const struct fib_wire_client *client);

enum tool_made {
	TOOL_MADE_BY_IT, /* by the process, before it executed another program or closed its descriptors */
	TOOL_MADE_EARLIER, /* by another process that had this id here or elsewhere */
	TOOL_MADE_UNKNOWN, /* by an older libfiber, which left no mark */
};

/* Which process made a socket at which no process listens: the one that has its id now? */
enum tool_made tool_sockets_made(pid_t pid, const struct tool_socket *socket);

/* Remove a socket when its folder is this user's and no process listens. */
bool tool_sockets_tidy(const struct tool_socket *socket);

#endif
